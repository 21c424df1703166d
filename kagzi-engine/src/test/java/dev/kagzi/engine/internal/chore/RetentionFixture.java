package dev.kagzi.engine.internal.chore;

import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.TestConfigs;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.config.RetentionConfig;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An engine that purges nothing, runs of any age, and chores that the test executes. */
abstract class RetentionFixture {
  static final Duration DAY = Duration.ofDays(1);

  @RegisterExtension static final TestDatabase database = new TestDatabase();

  TestEngine engine;
  WorkerId worker;

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

  static RetentionConfig keeping(Duration runs) {
    return new RetentionConfig(runs, Duration.ofDays(7), Duration.ZERO);
  }

  PurgeExpiredRuns chore(Duration runs) {
    return new PurgeExpiredRuns(
        database.open(), engine.engine().namespaces(), engine.engine().workers(), keeping(runs));
  }

  RunId finished(int daysAgo) {
    RunId run = engine.start();
    Task task = engine.claimOne(worker);
    engine.report(List.of(stepDone(task.claim(), "step", "1"), done(task.claim(), "\"out\"")));
    age(run, daysAgo);
    return run;
  }

  static void age(RunId run, int days) {
    database.execute(
        """
        UPDATE kagzi.workflow_runs
           SET created_at = created_at - interval '%1$d days',
               finished_at = finished_at - interval '%1$d days'
         WHERE run_id = '%2$s'
        """
            .formatted(days, run));
  }

  static long rows(RunId run) {
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

  static void addSteps(RunId run, int count) {
    database.execute(
        """
        INSERT INTO kagzi.step_runs
               (run_id, step_id, attempt, epoch, run_attempt, kind, status, output, created_at)
        SELECT '%s', 'more#' || i, 1, 1, 1, 'FUNCTION', 'COMPLETED', '1', now()
          FROM generate_series(1, %d) i
        """
            .formatted(run, count));
  }

  static long number(String sql) {
    return database.run(
        session ->
            session
                .query("SELECT (" + sql + ") AS number")
                .first(row -> row.bigint("number"))
                .orElseThrow());
  }

  /** A turn is short; on a busy machine a purge takes several. */
  static void runUntil(PurgeExpiredRuns chore, BooleanSupplier done) {
    await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () -> {
              chore.run();
              return done.getAsBoolean();
            });
  }
}
