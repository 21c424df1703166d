package dev.kagzi.sdk.internal.jdbc;

import dev.kagzi.protocol.v1.Payload;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;

/** Requests a signal with {@code kagzi.signal_workflow}, in the database of the server. */
public final class SignalFunction {
  private static final String SQL =
      """
      SELECT kagzi.signal_workflow(?, ?, namespace => ?, payload_data => ?,
                                   payload_metadata => ?::jsonb)
      """;

  private SignalFunction() {}

  /** Requests the signal in the transaction of the connection. */
  public static void call(
      Connection connection, String namespace, String runId, String name, Payload payload)
      throws SQLException {
    CallerTransaction.check(connection, "signalIn");
    try (PreparedStatement select = connection.prepareStatement(SQL)) {
      select.setObject(1, UUID.fromString(runId));
      select.setString(2, name);
      select.setString(3, namespace);
      select.setBytes(4, payload.getData().toByteArray());
      select.setString(5, StartFunction.texts(payload.getMetadataMap()));
      select.execute();
    } catch (SQLException e) {
      throw MissingObjects.function(connection, "kagzi.signal_workflow", "signalInOutbox", e);
    }
  }
}
