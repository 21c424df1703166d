package dev.kagzi.engine.query;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.internal.page.EpochMicros;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Inserts rows as the engine would store them. */
final class Rows {
  private static final String RUN =
      """
      WITH r AS (
        INSERT INTO kagzi.workflow_runs
               (run_id, namespace, external_id, ended, task_queue, workflow_type, version, status,
                available_at, created_at, finished_at)
        SELECT n.*, CASE WHEN n.available_at IS NULL THEN kagzi.clock() END
          FROM (VALUES (?::uuid, ?::text, ?::text, ?::uuid, ?::text, ?::text, ?::text, ?::text,
                        CASE WHEN ? THEN NULL ELSE kagzi.clock() END, kagzi.at(?)))
                 AS n (run_id, namespace, external_id, ended, task_queue, workflow_type, version,
                       status, available_at, created_at)
        RETURNING namespace, task_queue, workflow_type, version, status)
      INSERT INTO kagzi.run_changes
             (namespace, task_queue, workflow_type, version, from_status, to_status, runs)
      SELECT namespace, task_queue, workflow_type, version, NULL, status, 1 FROM r
      """;

  private static final String PAYLOAD =
      """
      INSERT INTO kagzi.workflow_payloads (run_id, kind, data, metadata, created_at)
      VALUES (?, ?, ?, ?::jsonb, kagzi.clock())
      """;

  private static final String STEP =
      """
      INSERT INTO kagzi.step_runs
             (run_id, step_id, attempt, epoch, run_attempt, kind, status, output, created_at)
      VALUES (?, ?, ?, 1, 1, 'FUNCTION', 'COMPLETED', ?, kagzi.at(?))
      """;

  private static final String WORKER =
      """
      INSERT INTO kagzi.workers
             (worker_id, namespace, task_queue, workflow_types, served_versions, status,
              registered_at, last_heartbeat_at)
      VALUES (?, ?, ?, '{a}', '{""}', ?, kagzi.at(?), kagzi.clock())
      """;

  private final TestDatabase database;

  Rows(TestDatabase database) {
    this.database = database;
  }

  /** The values of a run, to be changed before it is stored. */
  record Run(
      String namespace,
      String externalId,
      String queue,
      String type,
      String version,
      RunStatus status,
      Instant createdAt) {
    static Run of(String namespace, Instant createdAt) {
      return new Run(namespace, "", "q", "order", "", RunStatus.PENDING, createdAt);
    }

    Run externalId(String value) {
      return new Run(namespace, value, queue, type, version, status, createdAt);
    }

    Run queue(String value) {
      return new Run(namespace, externalId, value, type, version, status, createdAt);
    }

    Run type(String value) {
      return new Run(namespace, externalId, queue, value, version, status, createdAt);
    }

    Run version(String value) {
      return new Run(namespace, externalId, queue, type, value, status, createdAt);
    }

    Run status(RunStatus value) {
      return new Run(namespace, externalId, queue, type, version, value, createdAt);
    }
  }

  RunId insert(Run run) {
    return insert(new RunId(UUID.randomUUID()), run);
  }

  RunId insert(RunId id, Run run) {
    boolean ended = run.status.isFinal();
    database.run(
        session ->
            session
                .query(RUN)
                .bind(id.value())
                .bind(run.namespace)
                .bind(run.externalId.isEmpty() ? null : run.externalId)
                .bind(ended ? id.value() : new UUID(0, 0))
                .bind(run.queue)
                .bind(run.type)
                .bind(run.version)
                .bind(run.status.name())
                .bind(ended)
                .bind(EpochMicros.micros(run.createdAt))
                .update());
    return id;
  }

  void payload(RunId run, String kind, byte[] data, @Nullable String metadata) {
    database.run(
        session ->
            session.query(PAYLOAD).bind(run.value()).bind(kind).bind(data).bind(metadata).update());
  }

  void step(RunId run, String key, int attempt, byte[] output, Instant createdAt) {
    database.run(
        session ->
            session
                .query(STEP)
                .bind(run.value())
                .bind(key)
                .bind(attempt)
                .bind(output)
                .bind(EpochMicros.micros(createdAt))
                .update());
  }

  void worker(UUID id, String namespace, String queue, String status, Instant registeredAt) {
    database.run(
        session ->
            session
                .query(WORKER)
                .bind(id)
                .bind(namespace)
                .bind(queue)
                .bind(status)
                .bind(EpochMicros.micros(registeredAt))
                .update());
  }
}
