package dev.kagzi.engine.internal.chore;

import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.config.RetentionConfig;
import dev.kagzi.engine.internal.run.ExpiredRuns;
import dev.kagzi.engine.namespace.NamespaceUpdate;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Expired runs and workers are deleted, and nothing else. */
class RetentionTest extends RetentionFixture {
  /** On a queue without workers. */
  private RunId open() {
    return engine.onQueue("unserved").start();
  }

  @Test
  void an_expired_run_is_deleted_with_all_its_rows() {
    RunId old = finished(3);
    RunId young = finished(0);
    database.execute(
        "INSERT INTO kagzi.published_values"
            + " (run_id, name, scope, run_attempt, sequence, version, data, published_at)"
            + " VALUES ('%s', 'progress', '', 1, 1, 1, 'x', now())".formatted(old));
    database.execute(
        "INSERT INTO kagzi.run_messages (to_run, step_id, what, created_at)"
            + " VALUES ('%s', 'late', 'COMPLETED', now())".formatted(old));
    long before = engine.engine().queries().stats(null).runs(RunStatus.COMPLETED);

    chore(DAY).run();

    assertThat(rows(old)).isZero();
    assertThat(rows(young)).isEqualTo(4);
    assertThat(engine.engine().queries().stats(null).runs(RunStatus.COMPLETED))
        .isEqualTo(before - 1);
  }

  @Test
  void a_longer_retention_applies_in_the_middle_of_a_pass() {
    Namespaces namespaces = engine.engine().namespaces();
    String regretted =
        namespaces.create("ns-" + UUID.randomUUID(), "", "", 3_600_000L, null).namespace();
    RunId run = cancelled(regretted);
    PurgeExpiredRuns chore = chore(Duration.ZERO);
    // While another server purges, the chore has found the expired runs and waits for its turn.
    database
        .open()
        .write(
            tx -> {
              ExpiredRuns.tryLockDeletion(tx);
              chore.run();
              return true;
            });
    assertThat(rows(run)).isPositive();

    namespaces.update(regretted, new NamespaceUpdate(null, null, false, 0L, false), null);
    chore.run();

    assertThat(rows(run)).isPositive();
    namespaces.update(regretted, new NamespaceUpdate(null, null, false, 1L, false), null);
    chore(Duration.ZERO).run();
    assertThat(rows(run)).isZero();
  }

  @Test
  void a_run_that_is_old_and_has_not_ended_stays() {
    RunId open = open();
    database.execute(
        "UPDATE kagzi.workflow_runs SET created_at = created_at - interval '90 days'"
            + " WHERE run_id = '%s'".formatted(open));
    RunId late = finished(0);
    database.execute(
        "UPDATE kagzi.workflow_runs SET created_at = created_at - interval '90 days'"
            + " WHERE run_id = '%s'".formatted(late));

    chore(DAY).run();

    assertThat(engine.run(open).status()).isEqualTo(RunStatus.PENDING);
    assertThat(engine.run(late).status()).isEqualTo(RunStatus.COMPLETED);
    await(engine.engine().runs().cancel(TestEngine.NAMESPACE, open));
  }

  @Test
  void a_run_with_an_open_child_or_an_open_parent_stays_until_that_has_ended() {
    RunId oldParent = finished(3);
    RunId openChild = open();
    RunId openParent = open();
    RunId oldChild = finished(3);
    adopt(oldParent, openChild);
    adopt(openParent, oldChild);

    chore(DAY).run();
    assertThat(rows(oldParent)).isPositive();
    assertThat(rows(oldChild)).isPositive();

    await(engine.engine().runs().cancel(TestEngine.NAMESPACE, openChild));
    await(engine.engine().runs().cancel(TestEngine.NAMESPACE, openParent));
    chore(DAY).run();
    assertThat(rows(oldParent)).isZero();
    assertThat(rows(oldChild)).isZero();
  }

  private static void adopt(RunId parent, RunId child) {
    database.execute(
        "UPDATE kagzi.workflow_runs SET parent_run_id = '%s' WHERE run_id = '%s'"
            .formatted(parent, child));
  }

  @Test
  void a_namespace_keeps_its_runs_for_its_own_retention_and_zero_is_forever() {
    Namespaces namespaces = engine.engine().namespaces();
    String shorter =
        namespaces.create("ns-" + UUID.randomUUID(), "", "", 3_600_000L, null).namespace();
    String forEver = namespaces.create("ns-" + UUID.randomUUID(), "", "", 0L, null).namespace();
    RunId here = finished(1);
    RunId there = cancelled(shorter);
    RunId kept = cancelled(forEver);

    chore(Duration.ofDays(2)).run();

    assertThat(rows(here)).isPositive();
    assertThat(rows(there)).isZero();
    assertThat(rows(kept)).isPositive();

    namespaces.update(forEver, new NamespaceUpdate(null, null, false, null, true), null);
    chore(Duration.ofHours(2)).run();
    assertThat(rows(kept)).isZero();
  }

  private RunId cancelled(String namespace) {
    RunId run =
        await(
                engine
                    .engine()
                    .runs()
                    .start(
                        new StartRequest(
                            namespace,
                            "",
                            "q",
                            "t",
                            "",
                            payload("1"),
                            null,
                            null,
                            StartOptions.NONE)))
            .runId();
    await(engine.engine().runs().cancel(namespace, run));
    age(run, 1);
    return run;
  }

  @Test
  void zero_keeps_all_runs_of_namespaces_without_a_retention() {
    RunId old = finished(3_000);

    chore(Duration.ZERO).run();

    assertThat(rows(old)).isPositive();
    age(old, -3_000);
  }

  @Test
  void two_servers_delete_many_runs_together_each_once() throws Exception {
    List<RunId> old = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      old.add(finished(3));
    }
    long before = engine.engine().queries().stats(null).runs();

    try (ExecutorService servers = Executors.newFixedThreadPool(2)) {
      List<Future<?>> turns = new ArrayList<>();
      for (PurgeExpiredRuns server : List.of(chore(DAY), chore(DAY))) {
        turns.add(
            servers.submit(
                () -> {
                  for (int i = 0; i < 5; i++) {
                    server.run();
                  }
                }));
      }
      for (Future<?> turn : turns) {
        turn.get(20, TimeUnit.SECONDS);
      }
    }
    chore(DAY).run();

    assertThat(old).allMatch(run -> rows(run) == 0);
    assertThat(engine.engine().queries().stats(null).runs()).isEqualTo(before - 40);
  }

  @Test
  void a_locked_run_is_left_for_the_next_pass() {
    RunId old = finished(3);
    RunId other = finished(3);
    database
        .open()
        .write(
            tx -> {
              tx.query("SELECT FROM kagzi.workflow_runs WHERE run_id = ? FOR NO KEY UPDATE")
                  .bind(old.value())
                  .list(row -> true);
              chore(DAY).run();
              return true;
            });
    assertThat(rows(old)).isPositive();
    assertThat(rows(other)).isZero();

    chore(DAY).run();
    assertThat(rows(old)).isZero();
  }

  @Test
  void workers_are_deleted_with_their_events_a_week_after_they_left() {
    WorkerId gone = engine.register();
    WorkerId lately = engine.register();
    await(engine.engine().workers().deregister(null, gone, false));
    await(engine.engine().workers().deregister(null, lately, false));
    database.execute(
        "UPDATE kagzi.workers SET deregistered_at = deregistered_at - interval '8 days'"
            + " WHERE worker_id = '%s'".formatted(gone));

    chore(DAY).run();

    assertThat(traces(gone)).isZero();
    assertThat(traces(lately)).isEqualTo(3);
    assertThat(traces(worker)).isEqualTo(2);
  }

  @Test
  void all_workers_that_left_long_ago_are_deleted_in_one_pass() {
    database.execute(
        """
        INSERT INTO kagzi.workers
               (worker_id, namespace, task_queue, workflow_types, served_versions, status,
                registered_at, last_heartbeat_at, deregistered_at)
        SELECT gen_random_uuid(), 'default', 'crowd', '{a}', '{""}', 'OFFLINE',
               now() - interval '9 days', now() - interval '9 days', now() - interval '8 days'
          FROM generate_series(1, 1200)
        """);

    // The first pass may take several turns; the next pass is far in the future.
    PurgeExpiredRuns once =
        new PurgeExpiredRuns(
            database.open(),
            engine.engine().namespaces(),
            engine.engine().workers(),
            new RetentionConfig(DAY, Duration.ofDays(7), Duration.ofDays(1)));
    runUntil(
        once, () -> number("SELECT count(*) FROM kagzi.workers WHERE task_queue = 'crowd'") == 0);
  }

  private static long traces(WorkerId worker) {
    return database.run(
        session ->
            session
                .query(
                    """
                    SELECT (SELECT count(*) FROM kagzi.workers WHERE worker_id = n.id)
                         + (SELECT count(*) FROM kagzi.worker_events WHERE worker_id = n.id) AS rows
                      FROM (VALUES (?::uuid)) AS n (id)
                    """)
                .bind(worker.value())
                .first(row -> row.bigint("rows"))
                .orElseThrow());
  }

  @Test
  void an_engine_purges_by_itself() {
    RunId old = finished(31);

    try (TestEngine second = TestEngine.start(database.config(), "second")) {
      await().atMost(Duration.ofSeconds(20)).until(() -> rows(old) == 0);
      assertThat(second.engine().unavailableReason()).isEmpty();
    }
  }
}
