package dev.kagzi.engine.internal.message;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

public final class Messages {
  /**
   * How many bytes of messages one transaction applies; the message that crosses the limit is still
   * applied.
   */
  static final long TAKEN_BYTES_MAX = 4L << 20;

  private static final long MESSAGE_BYTES = 1_000;

  public static final String POST_SQL =
      """
      INSERT INTO kagzi.run_messages (to_run, step_id, what, data, metadata, created_at)
      SELECT n.to_run, n.step_id, n.what, n.data, n.metadata::jsonb, kagzi.clock()
        FROM unnest(?::uuid[], ?::text[], ?::text[], ?::bytea[], ?::text[])
               AS n (to_run, step_id, what, data, metadata)
          ON CONFLICT (to_run, step_id, what) DO NOTHING
      """;

  /**
   * Deletes and returns the messages to locked runs, in the order of the runs, until their sum of
   * bytes reaches the limit. Each message counts {@link #MESSAGE_BYTES} in addition to its content.
   * Messages from a parent have an empty step key, so they come first.
   */
  public static final String TAKE_SQL =
      """
      DELETE FROM kagzi.run_messages m
       USING (SELECT s.to_run, s.step_id, s.what,
                     sum(s.bytes) OVER (ORDER BY s.place, s.step_id, s.what) AS bytes_up_to,
                     sum(s.bytes) OVER (ORDER BY s.place, s.step_id, s.what) - s.bytes
                       AS bytes_before
                FROM (SELECT x.to_run, x.step_id, x.what, n.place,
                             ?::bigint + coalesce(octet_length(x.data), 0)
                               + coalesce(octet_length(x.metadata::text), 0) AS bytes
                        FROM unnest(?::uuid[]) WITH ORDINALITY AS n (to_run, place)
                        JOIN kagzi.run_messages x ON x.to_run = n.to_run) AS s) AS l
       WHERE m.to_run = l.to_run AND m.step_id = l.step_id AND m.what = l.what
         AND l.bytes_before < ?::bigint
      RETURNING m.to_run, m.step_id, m.what, m.data, m.metadata, l.bytes_up_to
      """;

  // The next two statements look up children run by run (LATERAL with OFFSET 0). While no run has
  // children, the planner would otherwise choose a scan of the whole index and cache that plan.

  /**
   * The active children of these runs, except detached ones. Children are inserted under the lock
   * of their parent, which is held here, so none is missed.
   */
  public static final String OPEN_CHILDREN_SQL =
      """
      SELECT n.run_id AS parent, c.run_id, c.parent_step_id
        FROM unnest(?::uuid[]) AS n (run_id)
       CROSS JOIN LATERAL (
             SELECT r.run_id, coalesce(r.parent_step_id, '') AS parent_step_id
               FROM kagzi.workflow_runs r
              WHERE r.parent_run_id = n.run_id
                AND r.finished_at IS NULL
                AND r.detached IS NOT TRUE
             OFFSET 0) AS c
      """;

  /**
   * Posts the outputs of completed children to parents that are resumed, if the step of the child
   * is open again. Other steps have their result.
   */
  public static final String OF_ENDED_CHILDREN_SQL =
      """
      INSERT INTO kagzi.run_messages (to_run, step_id, what, data, metadata, created_at)
      SELECT c.parent_run_id, c.parent_step_id, 'COMPLETED ' || c.child_id, p.data, p.metadata,
             kagzi.clock()
        FROM unnest(?::uuid[]) AS n (run_id)
       CROSS JOIN LATERAL (
             SELECT r.run_id, r.parent_run_id, r.parent_step_id,
                    coalesce(r.first_run_id, r.run_id) AS child_id
               FROM kagzi.workflow_runs r
              WHERE r.parent_run_id = n.run_id
                AND r.status = 'COMPLETED'
                AND r.continued_to IS NULL
                AND r.detached IS NOT TRUE
                AND r.parent_step_id IS NOT NULL
             OFFSET 0) AS c
       CROSS JOIN LATERAL (
             SELECT 1 AS is_open
               FROM kagzi.step_runs s
              WHERE s.run_id = c.parent_run_id AND s.step_id = c.parent_step_id
                AND s.status = 'RUNNING' AND s.child_run_id = c.child_id
              LIMIT 1) AS o
        LEFT JOIN kagzi.workflow_payloads p ON p.run_id = c.run_id AND p.kind = 'OUTPUT'
          ON CONFLICT (to_run, step_id, what) DO NOTHING
      RETURNING to_run
      """;

  /** Receivers of old messages: the notification of the receiver was probably lost. */
  public static final String OLD_SQL =
      """
      SELECT DISTINCT to_run
        FROM (SELECT to_run FROM kagzi.run_messages
               WHERE created_at < kagzi.clock() - ? * interval '1 millisecond'
               ORDER BY created_at LIMIT ?) AS old
      """;

  static final String DELETE_SQL = "DELETE FROM kagzi.run_messages WHERE to_run = ANY (?::uuid[])";

  private Messages() {}

  public static void delete(Session tx, Collection<RunId> runs) throws SQLException {
    tx.query(DELETE_SQL).bindUuids(runs, RunId::value).update();
  }

  public static void post(Session tx, List<RunMessage> messages) throws SQLException {
    tx.query(POST_SQL)
        .bindUuids(messages, m -> m.to().value())
        .bindTexts(messages, RunMessage::stepKey)
        .bindTexts(messages, RunMessage::storedType)
        .bindBytes(messages, Messages::data)
        .bindTexts(messages, m -> m.output() == null ? null : Json.encode(m.output().metadata()))
        .update();
  }

  /** A child of a run, and the step of the run that started it. */
  public record Child(RunId parent, String stepKey, RunId runId) {}

  /** Returns the active children of locked runs, except detached ones. */
  public static List<Child> openChildren(Session tx, Collection<RunId> parents)
      throws SQLException {
    return tx.query(OPEN_CHILDREN_SQL)
        .bindUuids(parents, RunId::value)
        .list(
            row -> new Child(row.runId("parent"), row.text("parent_step_id"), row.runId("run_id")));
  }

  /** Posts the results of completed children to resumed runs. Returns the receivers. */
  public static Set<RunId> postResultsOfEndedChildren(Session tx, Collection<RunId> runs)
      throws SQLException {
    return new HashSet<>(
        tx.query(OF_ENDED_CHILDREN_SQL)
            .bindUuids(runs, RunId::value)
            .list(row -> row.runId("to_run")));
  }

  private static byte[] data(RunMessage message) {
    if (message.failure() != null) {
      return Json.encode(message.failure()).getBytes(StandardCharsets.UTF_8);
    }
    return message.output() == null ? new byte[0] : message.output().data();
  }

  /**
   * Messages that were deleted.
   *
   * @param byReceiver the messages, by receiver
   * @param unfinished the receivers that may have further messages, because the byte limit was
   *     reached
   */
  public record Taken(Map<RunId, List<RunMessage>> byReceiver, List<RunId> unfinished) {
    public static final Taken NONE = new Taken(Map.of(), List.of());
  }

  /** Deletes and returns messages to these locked runs, up to a limit of bytes; at least one. */
  public static Taken take(Session tx, Collection<RunId> runs) throws SQLException {
    List<RunId> receivers = List.copyOf(runs);
    Map<RunId, List<RunMessage>> taken = new HashMap<>();
    AtomicLong bytes = new AtomicLong();
    tx.query(TAKE_SQL)
        .bind(MESSAGE_BYTES)
        .bindUuids(receivers, RunId::value)
        .bind(TAKEN_BYTES_MAX)
        .list(
            row -> {
              bytes.accumulateAndGet(row.bigint("bytes_up_to"), Math::max);
              RunMessage message = map(row);
              return taken.computeIfAbsent(message.to(), to -> new ArrayList<>()).add(message);
            });
    return new Taken(
        taken, bytes.get() < TAKEN_BYTES_MAX ? List.of() : unfinished(receivers, taken.keySet()));
  }

  /** The last receiver that got messages, and those after it. */
  private static List<RunId> unfinished(List<RunId> receivers, Set<RunId> reached) {
    int last = receivers.size() - 1;
    while (!reached.contains(receivers.get(last))) {
      last--;
    }
    return receivers.subList(last, receivers.size());
  }

  private static RunMessage map(Row row) throws SQLException {
    RunId to = row.runId("to_run");
    byte[] data = row.bytes("data");
    byte[] content = data == null ? new byte[0] : data;
    String[] stored = row.text("what").split(" ", 2);
    RunMessage.Type type = RunMessage.Type.valueOf(stored[0]);
    RunId from = stored.length == 1 ? null : RunId.parse(stored[1]).orElse(null);
    Payload output = null;
    Failure failure = null;
    if (type == RunMessage.Type.COMPLETED) {
      output = new Payload(content, Json.decode(row.textOrNull("metadata")));
    } else if (content.length > 0) {
      failure = Json.decodeFailure(new String(content, StandardCharsets.UTF_8));
    }
    return new RunMessage(to, row.text("step_id"), type, from, output, failure);
  }

  public static List<RunId> receiversOfOldMessages(Session session, long olderThanMs, int max)
      throws SQLException {
    return session.query(OLD_SQL).bind(olderThanMs).bind(max).list(row -> row.runId("to_run"));
  }
}
