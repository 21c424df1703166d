package dev.kagzi.engine.internal.db;

import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

public final class Row {
  private final ResultSet rows;

  Row(ResultSet rows) {
    this.rows = rows;
  }

  public UUID uuid(String column) throws SQLException {
    return required(column, rows.getObject(column, UUID.class));
  }

  public @Nullable UUID uuidOrNull(String column) throws SQLException {
    return rows.getObject(column, UUID.class);
  }

  public String text(String column) throws SQLException {
    return required(column, rows.getString(column));
  }

  public @Nullable String textOrNull(String column) throws SQLException {
    return rows.getString(column);
  }

  public String textOrEmpty(String column) throws SQLException {
    return Objects.requireNonNullElse(rows.getString(column), "");
  }

  public RunId runId(String column) throws SQLException {
    return new RunId(uuid(column));
  }

  public @Nullable RunId runIdOrNull(String column) throws SQLException {
    UUID id = uuidOrNull(column);
    return id == null ? null : new RunId(id);
  }

  public @Nullable WorkerId workerIdOrNull(String column) throws SQLException {
    UUID id = uuidOrNull(column);
    return id == null ? null : new WorkerId(id);
  }

  public @Nullable Payload payloadOrNull(String data, String metadata) throws SQLException {
    byte[] bytes = rows.getBytes(data);
    return bytes == null ? null : new Payload(bytes, Json.decode(rows.getString(metadata)));
  }

  public @Nullable Failure failureOrNull(String column) throws SQLException {
    String json = rows.getString(column);
    return json == null ? null : Json.decodeFailure(json);
  }

  public int integer(String column) throws SQLException {
    return rows.getInt(column);
  }

  public @Nullable Integer integerOrNull(String column) throws SQLException {
    int value = rows.getInt(column);
    return rows.wasNull() ? null : value;
  }

  public long bigint(String column) throws SQLException {
    return rows.getLong(column);
  }

  public @Nullable Long bigintOrNull(String column) throws SQLException {
    long value = rows.getLong(column);
    return rows.wasNull() ? null : value;
  }

  public boolean bool(String column) throws SQLException {
    return rows.getBoolean(column);
  }

  public byte @Nullable [] bytes(String column) throws SQLException {
    return rows.getBytes(column);
  }

  /** Returns a time; {@code infinity} becomes {@link Instant#MAX}. */
  public Instant time(String column) throws SQLException {
    return required(column, timeOrNull(column));
  }

  public @Nullable Instant timeOrNull(String column) throws SQLException {
    OffsetDateTime value = rows.getObject(column, OffsetDateTime.class);
    if (value == null) {
      return null;
    }
    return value.equals(OffsetDateTime.MAX) ? Instant.MAX : value.toInstant();
  }

  public List<String> texts(String column) throws SQLException {
    Array array = rows.getArray(column);
    return array == null ? List.of() : List.of((String[]) array.getArray());
  }

  private static <T> T required(String column, @Nullable T value) {
    if (value == null) {
      throw new IllegalStateException(column + ": null (expected: a value)");
    }
    return value;
  }
}
