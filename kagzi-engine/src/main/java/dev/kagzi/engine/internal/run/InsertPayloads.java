package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.List;

public final class InsertPayloads {
  public static final String SQL =
      """
      INSERT INTO kagzi.workflow_payloads (run_id, kind, data, metadata, created_at)
      SELECT n.run_id, n.kind, n.data, n.metadata::jsonb, kagzi.clock()
        FROM unnest(?::uuid[], ?::text[], ?::bytea[], ?::text[]) AS n (run_id, kind, data, metadata)
          ON CONFLICT (run_id, kind) DO NOTHING
      """;

  private InsertPayloads() {}

  public enum Kind {
    INPUT,
    OUTPUT
  }

  public record Item(RunId runId, Kind kind, Payload payload) {}

  public static void apply(Session tx, List<Item> items) throws SQLException {
    tx.query(SQL)
        .bindUuids(items, i -> i.runId().value())
        .bindTexts(items, i -> i.kind().name())
        .bindBytes(items, i -> i.payload().data())
        .bindTexts(items, i -> Json.encode(i.payload().metadata()))
        .update();
  }
}
