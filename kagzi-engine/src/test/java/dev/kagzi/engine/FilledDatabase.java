package dev.kagzi.engine;

import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.util.List;
import java.util.TreeMap;

/**
 * Fills a database with the rows that servers of a schema version leave behind: runs in every
 * status with their payloads and steps, schedules, workers, messages, counts. The rows are inserted
 * with SQL, because the present engine cannot write to an older schema.
 *
 * <p>A new migration needs an entry in {@link #ROWS}: statements that fill its new tables and
 * columns. Entries of released versions stay as they are.
 */
final class FilledDatabase {
  static final String QUEUE = "q";

  /** The runs and templates, by what is special about them. */
  enum Filled {
    PENDING,
    /** Claimed by a worker that has died; its first step is recorded. */
    RUNNING,
    /** Its sleep has ended. */
    SLEEPING,
    /** Parked until CHILD ends, whose message was not delivered. */
    PARENT,
    CHILD,
    BLOCKED,
    /** Started by the schedule TEMPLATE. */
    FIRED,
    COMPLETED,
    FAILED,
    CANCELLED,
    TIMED_OUT,
    TEMPLATE,
    PAUSED_TEMPLATE,
    /** Purged except for its steps. */
    PURGED;

    RunId id() {
      return RunId.parse(
              "00000000-0000-7000-8000-0000000001%02d".formatted(List.of(values()).indexOf(this)))
          .orElseThrow();
    }
  }

  private static final String V1 =
      """
      INSERT INTO kagzi.workflow_runs
        (run_id, namespace, external_id, ended, task_queue, workflow_type, status, epoch,
         ended_epoch, locked_by, claimed_at, available_at, created_at, started_at, finished_at)
      VALUES
        ('{PENDING}', 'default', 'a', default, 'q', 'order', 'PENDING', 0, 0, NULL, NULL,
         now() - interval '1 minute', now() - interval '1 day', NULL, NULL),
        ('{RUNNING}', 'default', 'b', default, 'q', 'order', 'RUNNING', 1, 0,
         '00000000-0000-7000-8000-0000000002b1', now() - interval '2 minutes',
         now() - interval '1 minute', now() - interval '1 day', now() - interval '1 day', NULL),
        ('{SLEEPING}', 'default', 'c', default, 'q', 'order', 'SLEEPING', 1, 1, NULL, NULL,
         now() - interval '1 second', now() - interval '1 day', now() - interval '1 day', NULL),
        ('{PARENT}', 'default', NULL, default, 'q', 'order', 'SLEEPING', 1, 1, NULL, NULL,
         'infinity', now() - interval '1 day', now() - interval '1 day', NULL),
        ('{CHILD}', 'default', NULL, '{CHILD}', 'q', 'order', 'COMPLETED', 1, 1, NULL, NULL,
         NULL, now() - interval '1 day', now() - interval '1 day', now() - interval '1 hour'),
        ('{BLOCKED}', 'default', NULL, default, 'q', 'order', 'PENDING', 1, 1, NULL, NULL,
         now() - interval '1 minute', now() - interval '1 day', now() - interval '1 day', NULL),
        ('{FIRED}', 'default', NULL, default, 'q', 'order', 'PENDING', 0, 0, NULL, NULL,
         now() - interval '1 minute', now() - interval '1 hour', NULL, NULL),
        ('{COMPLETED}', 'default', 'd', '{COMPLETED}', 'q', 'order', 'COMPLETED', 1, 1, NULL,
         NULL, NULL, now() - interval '1 day', now() - interval '1 day', now() - interval '1 hour'),
        ('{FAILED}', 'default', NULL, '{FAILED}', 'q', 'order', 'FAILED', 1, 1, NULL, NULL,
         NULL, now() - interval '1 day', now() - interval '1 day', now() - interval '1 hour'),
        ('{CANCELLED}', 'default', NULL, '{CANCELLED}', 'q', 'order', 'CANCELLED', 0, 0, NULL,
         NULL, NULL, now() - interval '1 day', NULL, now() - interval '1 hour'),
        ('{TIMED_OUT}', 'default', NULL, '{TIMED_OUT}', 'q', 'order', 'TIMED_OUT', 1, 1, NULL,
         NULL, NULL, now() - interval '1 day', now() - interval '1 day', now() - interval '1 hour');

      UPDATE kagzi.workflow_runs SET waits_for = '{child}', waits_for_all = true
       WHERE run_id = '{PARENT}';
      UPDATE kagzi.workflow_runs
         SET origin = 'CHILD', parent_run_id = '{PARENT}', parent_step_id = 'child'
       WHERE run_id = '{CHILD}';
      UPDATE kagzi.workflow_runs
         SET blocked_by = '{"code": "PRECONDITION_FAILED", "message": "the code has changed"}'
       WHERE run_id = '{BLOCKED}';
      UPDATE kagzi.workflow_runs
         SET error = '{"code": "INTERNAL", "message": "no money"}'
       WHERE run_id = '{FAILED}';
      UPDATE kagzi.workflow_runs
         SET execution_timeout_ms = 60000, deadline_at = created_at + interval '1 minute',
             error = '{"code": "TIMEOUT", "message": "too slow"}'
       WHERE run_id = '{TIMED_OUT}';
      UPDATE kagzi.workflow_runs
         SET origin = 'SCHEDULE', schedule_id = '{TEMPLATE}', fire_at = created_at
       WHERE run_id = '{FIRED}';

      INSERT INTO kagzi.workflow_runs
        (run_id, namespace, schedule_name, task_queue, workflow_type, status, origin, cron_expr,
         time_zone, overlap_policy, max_catchup, fire_at, available_at, total_runs, missed_runs,
         created_at, updated_at)
      VALUES
        ('{TEMPLATE}', 'default', 'yearly', 'q', 'order', 'SCHEDULED', 'SCHEDULE', '0 0 1 1 *',
         'UTC', 'ALLOW', 1, now() + interval '100 days', now() + interval '100 days', 3, 0,
         now() - interval '1 day', now() - interval '1 day'),
        ('{PAUSED_TEMPLATE}', 'default', 'paused', 'q', 'order', 'PAUSED', 'SCHEDULE',
         '* * * * *', 'UTC', 'SKIP', 1, now(), now(), 0, 0,
         now() - interval '1 day', now() - interval '1 day');
      INSERT INTO kagzi.schedule_counts (schedule_id, completed, failed) VALUES ('{TEMPLATE}', 1, 0);
      INSERT INTO kagzi.schedule_changes (schedule_id, completed, failed)
      VALUES ('{TEMPLATE}', 0, 1);

      INSERT INTO kagzi.workflow_payloads (run_id, kind, data, created_at)
      SELECT run_id, 'INPUT', '"in"', created_at FROM kagzi.workflow_runs;
      INSERT INTO kagzi.workflow_payloads (run_id, kind, data, created_at)
      VALUES ('{COMPLETED}', 'OUTPUT', '"out"', now() - interval '1 hour'),
             ('{CHILD}', 'OUTPUT', '"of the child"', now() - interval '1 hour');

      INSERT INTO kagzi.step_runs
        (run_id, step_id, attempt, epoch, run_attempt, kind, status, output, error, due_at,
         child_run_id, created_at, started_at, finished_at)
      VALUES
        ('{RUNNING}', 'charge', 1, 1, 1, 'FUNCTION', 'COMPLETED', '"paid"', NULL, NULL, NULL,
         now() - interval '1 day', now() - interval '1 day', now() - interval '1 day'),
        ('{SLEEPING}', 'nap', 1, 1, 1, 'SLEEP', 'RUNNING', NULL, NULL, now() - interval '1 second',
         NULL, now() - interval '1 day', now() - interval '1 day', NULL),
        ('{PARENT}', 'child', 1, 1, 1, 'CHILD_WORKFLOW', 'RUNNING', NULL, NULL, NULL, '{CHILD}',
         now() - interval '1 day', now() - interval '1 day', NULL),
        ('{FAILED}', 'charge', 1, 1, 1, 'FUNCTION', 'FAILED', NULL,
         '{"code": "INTERNAL", "message": "no money"}', NULL, NULL,
         now() - interval '1 day', now() - interval '1 day', now() - interval '1 day'),
        ('{PURGED}', 'charge', 1, 1, 1, 'FUNCTION', 'COMPLETED', '"paid"', NULL, NULL, NULL,
         now() - interval '99 days', now() - interval '99 days', now() - interval '99 days');
      INSERT INTO kagzi.run_messages (to_run, step_id, what, data, metadata, created_at)
      VALUES ('{PARENT}', 'child', 'COMPLETED {CHILD}', '"of the child"', '{}',
              now() - interval '1 hour');
      INSERT INTO kagzi.maintenance_tasks (task) VALUES ('STEPS {PURGED}');

      INSERT INTO kagzi.run_counts (namespace, workflow_type, task_queue, version, status, runs)
      SELECT namespace, workflow_type, task_queue, version, status, count(*)
        FROM kagzi.workflow_runs
       WHERE cron_expr IS NULL AND run_id <> '{PENDING}'
       GROUP BY namespace, workflow_type, task_queue, version, status;
      INSERT INTO kagzi.run_changes
        (namespace, task_queue, workflow_type, version, from_status, to_status, runs)
      VALUES ('default', 'q', 'order', '', NULL, 'PENDING', 1);

      INSERT INTO kagzi.workers
        (worker_id, namespace, task_queue, workflow_types, served_versions, hostname, status,
         registered_at, last_heartbeat_at, deregistered_at, died)
      VALUES
        ('00000000-0000-7000-8000-0000000002b1', 'default', 'q', '{order}', '{""}', 'killed',
         'ONLINE', now() - interval '1 day', now() - interval '2 minutes', NULL, NULL),
        ('00000000-0000-7000-8000-0000000002b2', 'default', 'q', '{order}', '{*}', 'draining',
         'DRAINING', now() - interval '1 day', now() - interval '2 minutes', NULL, NULL),
        ('00000000-0000-7000-8000-0000000002b3', 'default', 'q', '{order}', '{""}', 'gone',
         'OFFLINE', now() - interval '1 day', now() - interval '1 hour',
         now() - interval '1 hour', true);
      INSERT INTO kagzi.worker_events (worker_id, event, reason, at)
      VALUES ('00000000-0000-7000-8000-0000000002b3', 'OFFLINE', 'heartbeats stopped',
              now() - interval '1 hour');

      INSERT INTO kagzi.workflow_types (namespace, workflow_type, default_version, updated_at)
      VALUES ('default', 'other', '2', now() - interval '1 day');
      INSERT INTO kagzi.requests (request_id, call, answer, created_at)
      VALUES ('00000000-0000-7000-8000-0000000002c1', 'some call', 'its answer',
              now() - interval '1 hour');
      INSERT INTO kagzi.servers (server_id, hostname, started_at, heartbeat_at)
      VALUES ('00000000-0000-7000-8000-0000000002d1', 'killed', now() - interval '1 day',
              now() - interval '2 minutes');
      """;

  private static final String V2 =
      """
      UPDATE kagzi.workflow_runs
         SET headers = '{"tenant": "acme"}'
       WHERE run_id IN ('{SLEEPING}', '{FAILED}');
      """;

  private static final String V3 =
      """
      INSERT INTO kagzi.run_rates
        (namespace, minute, workflow_type, task_queue, started, completed, failed, cancelled)
      VALUES ('default', now() - interval '1 minute', 'order', 'orders', 3, 2, 1, 0);
      """;

  private static final String V4 =
      """
      INSERT INTO kagzi.step_runs
        (run_id, step_id, attempt, epoch, run_attempt, kind, status, output, created_at, started_at,
         finished_at)
      VALUES ('{BLOCKED}', 'approval', 1, 1, 1, 'SIGNAL', 'COMPLETED', '"yes"',
              now() - interval '1 day', now() - interval '1 day', now() - interval '1 hour');
      INSERT INTO kagzi.run_signals
        (run_id, signal_no, signal_id, name, data, metadata, step_id, sent_at, received_at)
      VALUES
        ('{BLOCKED}', 1, 'first', 'approval', NULL, NULL, 'approval', now() - interval '1 hour',
         now() - interval '1 hour'),
        ('{BLOCKED}', 2, 'second', 'approval', '"no"', '{}', NULL, now() - interval '1 hour', NULL),
        ('{PURGED}', 1, 'late', 'approval', '"no"', '{}', NULL, now() - interval '99 days', NULL);
      UPDATE kagzi.workflow_runs SET simple = true WHERE run_id = '{PENDING}';
      UPDATE kagzi.workers SET simple = true WHERE hostname = 'draining';
      """;

  private static final String V5 =
      """
      INSERT INTO kagzi.published_values
        (run_id, name, scope, run_attempt, sequence, version, data, metadata, published_at)
      VALUES ('{BLOCKED}', 'progress', '', 1, 2, 4294967298, '"half"', '{}', now());
      """;

  private static final String V7 =
      """
      UPDATE kagzi.workflow_runs
         SET continued_to = '{BLOCKED}'
       WHERE run_id = '{COMPLETED}';
      UPDATE kagzi.workflow_runs
         SET continued_from = '{COMPLETED}', first_run_id = '{COMPLETED}',
             chain_deadline = now() + interval '1 day'
       WHERE run_id = '{BLOCKED}';
      UPDATE kagzi.run_signals SET chain_id = '{COMPLETED}' WHERE run_id = '{BLOCKED}';
      """;

  private static final String V8 =
      """
      UPDATE kagzi.workflow_runs SET clean_up_ms = 60000 WHERE run_id = '{SLEEPING}';
      UPDATE kagzi.workflow_runs
         SET clean_up_ms = 60000, cancel_requested_at = finished_at, cancel_epoch = epoch
       WHERE run_id = '{CANCELLED}';
      """;

  // V10 adds indexes only.
  private static final String V10 = "";

  private static final String V11 = "UPDATE kagzi.database_generation SET generation = 1";

  private static final String V9 =
      """
      INSERT INTO kagzi.start_requests
        (run_id, namespace, external_id, task_queue, workflow_type, version, data,
         on_failure_workflow, on_failure_task_queue, if_exists, requested_at, refused_at,
         refusal_code, refusal)
      VALUES
        ('00000000-0000-7000-8000-0000000002e1', 'unknown', '', 'elsewhere', 'other', '', '"in"',
         '', '', 'USE_EXISTING', now() - interval '1 hour', NULL, NULL, NULL),
        ('00000000-0000-7000-8000-0000000002e2', 'default', '', 'elsewhere', 'other', '', '"in"',
         '', '', 'USE_EXISTING', now() - interval '1 hour', now() - interval '1 hour',
         'INVALID_ARGUMENT', 'task_queue: refused'),
        ('00000000-0000-7000-8000-0000000002e3', 'default', '', 'elsewhere', 'other', '', '"in"',
         '', '', 'USE_EXISTING', now() - interval '99 days', now() - interval '99 days',
         'INVALID_ARGUMENT', 'task_queue: refused');
      """;

  private static final String V12 =
      """
      INSERT INTO kagzi.signal_requests
        (run_id, namespace, name, signal_id, data, requested_at, refused_at, refusal_code, refusal)
      VALUES
        ('{PENDING}', 'unknown', 'approval', 'third', '"in"', now() - interval '1 hour', NULL, NULL,
         NULL),
        ('{BLOCKED}', 'default', 'approval', 'second', '"no"', now() - interval '1 hour', NULL, NULL,
         NULL),
        ('{BLOCKED}', 'default', '', 'refused', '"in"', now() - interval '1 hour',
         now() - interval '1 hour', 'INVALID_ARGUMENT', 'name: refused'),
        ('{BLOCKED}', 'default', '', 'refused', '"in"', now() - interval '99 days',
         now() - interval '99 days', 'INVALID_ARGUMENT', 'name: refused');
      """;

  private static final String V13 =
      """
      INSERT INTO kagzi.signal_requests
        (run_id, namespace, name, signal_id, data, requested_at, attempts, retry_at, refusal_code,
         refusal)
      VALUES
        ('{BLOCKED}', 'default', 'approval', 'second', '"no"', now() - interval '1 hour', 3,
         now() - interval '1 minute', 'TOO_MANY_SIGNALS', 'run: 10000 signals');
      """;

  /** Rows that a server of schema version 6 can write and a server of version 5 cannot. */
  private static final String V6 =
      """
      INSERT INTO kagzi.step_runs
        (run_id, step_id, attempt, epoch, run_attempt, kind, status, output, created_at, started_at,
         finished_at)
      VALUES ('{BLOCKED}', 'payment', 1, 1, 1, 'CALLBACK', 'COMPLETED', '',
              now() - interval '1 day', now() - interval '1 day', now() - interval '1 hour');
      INSERT INTO kagzi.run_signals
        (run_id, signal_no, signal_id, name, data, metadata, answer, sent_at)
      VALUES
        ('{BLOCKED}', 3, 'callback:payment', 'callback:payment', '',
         '{"kagzi.failure": "no money", "kagzi.failure-type": ""}', 'FAILED',
         now() - interval '1 hour'),
        ('{PURGED}', 2, 'callback:payment', 'callback:payment', '1', '{}', 'COMPLETED',
         now() - interval '99 days');
      """;

  private static final TreeMap<Integer, String> ROWS = new TreeMap<>();

  static {
    List<String> rows = List.of(V1, V2, V3, V4, V5, V6, V7, V8, V9, V10, V11, V12, V13);
    for (int i = 0; i < rows.size(); i++) {
      ROWS.put(i + 1, rows.get(i));
    }
  }

  private FilledDatabase() {}

  /** Returns the versions that have an entry, in order. */
  static List<Integer> versions() {
    return List.copyOf(ROWS.keySet());
  }

  /** Creates a database of this version with the rows of all versions up to it. */
  static VersionedDatabase at(int version) throws SQLException {
    VersionedDatabase database = VersionedDatabase.at(version);
    for (String rows : ROWS.headMap(version, true).values()) {
      String sql = rows;
      for (Filled run : Filled.values()) {
        sql = sql.replace("{" + run + "}", run.id().toString());
      }
      database.execute(sql);
    }
    return database;
  }
}
