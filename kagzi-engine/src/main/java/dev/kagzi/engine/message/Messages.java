package dev.kagzi.engine.message;

import dev.kagzi.engine.db.Row;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.value.Json;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Writes, takes and finds messages. */
public final class Messages {
  public static final String POST_SQL =
      """
      INSERT INTO kagzi.run_messages (to_run, step_id, what, data, metadata, created_at)
      SELECT n.to_run, n.step_id, n.what, n.data, n.metadata::jsonb, kagzi.clock()
        FROM unnest(?::uuid[], ?::text[], ?::text[], ?::bytea[], ?::text[])
               AS n (to_run, step_id, what, data, metadata)
          ON CONFLICT (to_run, step_id, what) DO NOTHING
      """;

  public static final String TAKE_SQL =
      """
      DELETE FROM kagzi.run_messages m
       USING unnest(?::uuid[]) AS n (to_run)
       WHERE m.to_run = n.to_run
      RETURNING m.to_run, m.step_id, m.what, m.data, m.metadata
      """;

  /** Messages that nobody has read for a while: their announcement was lost. */
  public static final String FORGOTTEN_SQL =
      """
      SELECT DISTINCT to_run
        FROM (SELECT to_run FROM kagzi.run_messages
               WHERE created_at < kagzi.clock() - ? * interval '1 millisecond'
               ORDER BY created_at LIMIT ?) AS old
      """;

  static final String DELETE_SQL = "DELETE FROM kagzi.run_messages WHERE to_run = ANY (?::uuid[])";

  private Messages() {}

  /** Forgets what was said to runs that go. */
  public static void delete(Session tx, Collection<RunId> runs) throws SQLException {
    tx.query(DELETE_SQL).bindUuids(runs, RunId::value).update();
  }

  public static void post(Session tx, List<RunMessage> messages) throws SQLException {
    tx.query(POST_SQL)
        .bindUuids(messages, m -> m.to().value())
        .bindTexts(messages, RunMessage::stepKey)
        .bindTexts(messages, RunMessage::what)
        .bindBytes(messages, Messages::data)
        .bindTexts(messages, m -> m.output() == null ? null : Json.encode(m.output().metadata()))
        .update();
  }

  private static byte[] data(RunMessage message) {
    if (message.failure() != null) {
      return Json.encode(message.failure()).getBytes(StandardCharsets.UTF_8);
    }
    return message.output() == null ? new byte[0] : message.output().data();
  }

  /** Takes all messages to these runs, whose locks are held. */
  public static Map<RunId, List<RunMessage>> take(Session tx, Collection<RunId> runs)
      throws SQLException {
    Map<RunId, List<RunMessage>> taken = new HashMap<>();
    for (RunMessage message :
        tx.query(TAKE_SQL).bindUuids(runs, RunId::value).list(Messages::map)) {
      taken.computeIfAbsent(message.to(), to -> new ArrayList<>()).add(message);
    }
    return taken;
  }

  private static RunMessage map(Row row) throws SQLException {
    RunId to = new RunId(row.uuid("to_run"));
    byte[] data = row.bytes("data");
    byte[] content = data == null ? new byte[0] : data;
    if (row.text("what").equals("FAILED")) {
      String failure = new String(content, StandardCharsets.UTF_8);
      return new RunMessage(to, row.text("step_id"), null, Json.decodeFailure(failure));
    }
    Payload output = new Payload(content, Json.decode(row.textOrNull("metadata")));
    return new RunMessage(to, row.text("step_id"), output, null);
  }

  /** Receivers of messages older than that. */
  public static List<RunId> forgotten(Session session, long olderThanMs, int max)
      throws SQLException {
    return session
        .query(FORGOTTEN_SQL)
        .bind(olderThanMs)
        .bind(max)
        .list(row -> new RunId(row.uuid("to_run")));
  }
}
