package dev.kagzi.engine.internal.chore;

import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.TestConfigs;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.config.RetentionConfig;
import dev.kagzi.engine.dispatch.Task;
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
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Expired runs and workers are deleted, and nothing else. */
class RetentionTest {
  private static final Duration DAY = Duration.ofDays(1);

  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private TestEngine engine;
  private WorkerId worker;

  @BeforeEach
  void open(TestInfo test) {
    // The engine's own chore keeps everything; each test runs its own chore.
    engine =
        TestEngine.start(
            database.config(),
            test.getTestMethod().orElseThrow().getName(),
            TestConfigs.withRetention(
                new RetentionConfig(Duration.ZERO, Duration.ZERO, Duration.ofDays(1))));
    worker = engine.register();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private static RetentionConfig keeping(Duration runs) {
    return new RetentionConfig(runs, Duration.ofDays(7), Duration.ZERO);
  }

  private PurgeExpiredRuns chore(Duration runs) {
    return new PurgeExpiredRuns(
        database.open(), engine.engine().namespaces(), engine.engine().workers(), keeping(runs));
  }

  private RunId finished(int daysAgo) {
    RunId run = engine.start();
    Task task = engine.claimOne(worker);
    engine.report(List.of(stepDone(task.claim(), "step", "1"), done(task.claim(), "\"out\"")));
    age(run, daysAgo);
    return run;
  }

  /** On a queue without workers. */
  private RunId open() {
    return engine.onQueue("unserved").start();
  }

  private static void age(RunId run, int days) {
    database.execute(
        """
        UPDATE kagzi.workflow_runs
           SET created_at = created_at - interval '%1$d days',
               finished_at = finished_at - interval '%1$d days'
         WHERE run_id = '%2$s'
        """
            .formatted(days, run));
  }

  private static long rows(RunId run) {
    return database.run(
        session ->
            session
                .query(
                    """
                    SELECT (SELECT count(*) FROM kagzi.workflow_runs WHERE run_id = n.id)
                         + (SELECT count(*) FROM kagzi.workflow_payloads WHERE run_id = n.id)
                         + (SELECT count(*) FROM kagzi.step_runs WHERE run_id = n.id)
                         + (SELECT count(*) FROM kagzi.published_values WHERE run_id = n.id)
                         + (SELECT count(*) FROM kagzi.run_messages WHERE to_run = n.id) AS rows
                      FROM (VALUES (?::uuid)) AS n (id)
                    """)
                .bind(run.value())
                .first(row -> row.bigint("rows"))
                .orElseThrow());
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
  void the_steps_of_a_long_run_are_deleted_in_slices() {
    RunId old = finished(3);
    addSteps(old, 5_000);
    recordDeletedSteps();

    runUntil(chore(DAY), () -> rows(old) == 0);

    assertThat(number("SELECT sum(steps) FROM deleted")).isEqualTo(5_001);
    assertThat(number("SELECT max(steps) FROM deleted")).isBetween(100L, 2_000L);
    assertThat(number("SELECT count(*) FROM kagzi.maintenance_tasks WHERE task LIKE 'STEPS%'"))
        .isZero();
  }

  @Test
  void deleting_a_run_of_a_hundred_thousand_steps_takes_only_short_transactions() {
    RunId old = finished(3);
    RunId other = finished(3);
    addSteps(old, 100_000);
    recordDeletedSteps();

    runUntil(chore(DAY), () -> rows(old) + rows(other) == 0);

    assertThat(number("SELECT sum(steps) FROM deleted")).isEqualTo(100_002);
    assertThat(number("SELECT max(steps) FROM deleted")).isLessThanOrEqualTo(2_000);
    // Some may be slow on a busy machine; most are not.
    assertThat(number("SELECT percentile_disc(0.8) WITHIN GROUP (ORDER BY held_ms) FROM deleted"))
        .isLessThan(100);
  }

  @Test
  void a_few_large_steps_are_deleted_in_slices_too() {
    RunId old = finished(3);
    // Each output takes a hundred TOAST rows; random bytes cannot be compressed.
    database.execute(
        """
        INSERT INTO kagzi.step_runs
               (run_id, step_id, attempt, epoch, run_attempt, kind, status, output, created_at)
        SELECT '%s', 'heavy#' || i, 1, 1, 1, 'FUNCTION', 'COMPLETED',
               (SELECT string_agg(sha256((i || '-' || j)::bytea), ''::bytea)
                  FROM generate_series(1, 6250) j), now()
          FROM generate_series(1, 50) i
        """
            .formatted(old));
    recordDeletedSteps();

    runUntil(chore(DAY), () -> rows(old) == 0);

    assertThat(number("SELECT sum(steps) FROM deleted")).isEqualTo(51);
    assertThat(number("SELECT max(steps) FROM deleted")).isBetween(1L, 20L);
  }

  private static void recordDeletedSteps() {
    database.execute("DROP TABLE IF EXISTS deleted");
    database.execute("CREATE TABLE deleted (steps bigint, held_ms bigint)");
    database.execute(
        """
        CREATE OR REPLACE FUNCTION note_deleted() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN
             INSERT INTO deleted
             SELECT count(*), extract(epoch FROM clock_timestamp() - now()) * 1000 FROM gone;
             RETURN NULL;
           END $$
        """);
    database.execute(
        """
        CREATE OR REPLACE TRIGGER note AFTER DELETE ON kagzi.step_runs
          REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_deleted()
        """);
  }

  @AfterEach
  void stopRecording() {
    database.execute("DROP TRIGGER IF EXISTS note ON kagzi.step_runs");
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
  void steps_that_a_server_left_behind_are_deleted_by_the_next() {
    RunId gone = RunId.next();
    addSteps(gone, 10);
    database.execute(
        "INSERT INTO kagzi.maintenance_tasks (task) VALUES ('STEPS %s')".formatted(gone));

    chore(DAY).run();

    assertThat(rows(gone)).isZero();
    assertThat(number("SELECT count(*) FROM kagzi.maintenance_tasks WHERE task LIKE 'STEPS%'"))
        .isZero();
  }

  private static void addSteps(RunId run, int count) {
    database.execute(
        """
        INSERT INTO kagzi.step_runs
               (run_id, step_id, attempt, epoch, run_attempt, kind, status, output, created_at)
        SELECT '%s', 'more#' || i, 1, 1, 1, 'FUNCTION', 'COMPLETED', '1', now()
          FROM generate_series(1, %d) i
        """
            .formatted(run, count));
  }

  private static long number(String sql) {
    return database.run(
        session ->
            session
                .query("SELECT (" + sql + ") AS number")
                .first(row -> row.bigint("number"))
                .orElseThrow());
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

  @Test
  void the_first_run_of_a_chain_stays_until_the_chain_has_ended() {
    RunId first = finished(3);
    RunId middle = finished(3);
    RunId last = open();
    database.execute(
        "UPDATE kagzi.workflow_runs SET continued_to = '%s' WHERE run_id = '%s'"
            .formatted(middle, first));
    database.execute(
        "UPDATE kagzi.workflow_runs SET continued_to = '%s', first_run_id = '%s' WHERE run_id = '%s'"
            .formatted(last, first, middle));
    database.execute(
        "UPDATE kagzi.workflow_runs SET first_run_id = '%s' WHERE run_id = '%s'"
            .formatted(first, last));

    chore(DAY).run();
    assertThat(rows(first)).isPositive();
    assertThat(rows(middle)).isZero();

    await(engine.engine().runs().cancel(TestEngine.NAMESPACE, last));
    chore(DAY).run();
    assertThat(rows(first)).isZero();
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
  void the_steps_of_a_locked_long_run_stay_while_the_next_run_is_deleted() {
    RunId old = finished(4);
    RunId next = finished(3);
    addSteps(old, 1_000);
    // Only the steps of the first run count for the size of a batch.
    database.execute(
        "DELETE FROM kagzi.workflow_payloads WHERE run_id IN ('%s', '%s')".formatted(old, next));
    database.execute("DELETE FROM kagzi.step_runs WHERE run_id = '%s'".formatted(next));
    long before = rows(old);
    database
        .open()
        .write(
            tx -> {
              tx.query("SELECT FROM kagzi.workflow_runs WHERE run_id = ? FOR NO KEY UPDATE")
                  .bind(old.value())
                  .list(row -> true);
              runUntil(chore(DAY), () -> rows(next) == 0);
              return true;
            });

    assertThat(rows(old)).isEqualTo(before);
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

  /** A turn is short; on a busy machine a purge takes several. */
  private static void runUntil(PurgeExpiredRuns chore, BooleanSupplier done) {
    await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () -> {
              chore.run();
              return done.getAsBoolean();
            });
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
