package dev.kagzi.engine.query;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.internal.run.RunCounts;
import dev.kagzi.engine.query.Activity.Minute;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ActivityTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static TestEngine engine(String queue) {
    database.execute(
        "TRUNCATE kagzi.run_rates, kagzi.run_changes, kagzi.run_counts, kagzi.workflow_runs CASCADE");
    // The coordinator would fold at its own time.
    EngineConfig config = EngineConfig.defaults().withCoordinatorInterval(Duration.ofMinutes(1));
    return TestEngine.start(database.config(), queue, config);
  }

  private static void fold() {
    database.run(session -> RunCounts.fold(session, 1_000_000));
  }

  private static Activity activity(TestEngine engine) {
    return engine.engine().queries().activity(NAMESPACE);
  }

  @Test
  void starts_and_ends_are_counted_in_their_minute_and_by_type() {
    try (TestEngine engine = engine("rates")) {
      WorkerId worker = engine.register();
      for (int i = 0; i < 3; i++) {
        engine.start();
      }
      engine.report(done(engine.claimOne(worker).claim(), "1"));
      engine.report(failed(engine.claimOne(worker).claim(), "no"));
      await(engine.engine().runs().cancel(NAMESPACE, engine.claimOne(worker).claim().runId()));

      fold();
      Activity activity = activity(engine);

      assertThat(activity.minutes())
          .hasSize(60)
          .isSortedAccordingTo((a, b) -> a.at().compareTo(b.at()));
      assertThat(activity.minutes().stream().mapToLong(Minute::started).sum()).isEqualTo(3);
      assertThat(activity.minutes().stream().mapToLong(Minute::completed).sum()).isEqualTo(1);
      assertThat(activity.minutes().stream().mapToLong(Minute::failed).sum()).isEqualTo(1);
      assertThat(activity.types()).containsExactly(new Activity.TypeRate(TYPE, 3, 1, 1));
      assertThat(activity.types().getFirst().failedPercent()).isEqualTo(50);
    }
  }

  @Test
  void starts_and_ends_are_counted_by_queue() {
    try (TestEngine engine = engine("counted")) {
      WorkerId worker = engine.register();
      engine.start();
      engine.start();
      engine.report(done(engine.claimOne(worker).claim(), "1"));
      engine.report(failed(engine.claimOne(worker).claim(), "no"));
      engine.start();
      fold();

      QueueDetails queue = engine.engine().queries().queue(NAMESPACE, "counted");

      assertThat(queue.rate()).isEqualTo(new QueueRate("counted", 3, 1, 1));
      assertThat(queue.queue().pending()).isEqualTo(1);
      assertThat(queue.types()).containsExactly(new QueueDetails.OpenRuns(TYPE, "", 1, 0, 0));
      assertThat(queue.served()).containsExactly(new ServedType("counted", TYPE, "", 1));
      assertThat(engine.engine().queries().queueRates(NAMESPACE, List.of("counted", "none")))
          .containsExactly(queue.rate());
      assertThat(engine.engine().queries().queue(NAMESPACE, "none").rate().started()).isZero();
      assertThat(engine.engine().queries().type(NAMESPACE, TYPE).openByVersion())
          .containsEntry("", 1L);
      assertThat(engine.engine().queries().type(NAMESPACE, "unknown").runs()).isZero();
    }
  }

  @Test
  void several_folds_of_a_minute_are_added_up_and_old_minutes_are_deleted() {
    try (TestEngine engine = engine("sums")) {
      database.execute(
          """
          INSERT INTO kagzi.run_rates
                 (namespace, minute, workflow_type, task_queue, started, completed, failed,
                  cancelled)
          SELECT 'default', date_trunc('minute', kagzi.clock()) - i * interval '30 minutes',
                 'old', 'q', 1, 1, 0, 0
            FROM generate_series(1, 10) i
          """);
      for (int i = 0; i < 4; i++) {
        engine.start();
        fold();
      }

      assertThat(activity(engine).minutes().stream().mapToLong(Minute::started).sum())
          .isEqualTo(4 + 1);
      // The purge of the engine may have deleted them before.
      database.run(session -> RunCounts.deleteOldRates(session, 100));
      long left =
          database.run(
              session ->
                  session
                      .query(
                          "SELECT count(*) AS n FROM kagzi.run_rates WHERE workflow_type = 'old'")
                      .first(row -> row.bigint("n"))
                      .orElseThrow());
      assertThat(left).isEqualTo(5);
    }
  }

  @Test
  void other_namespaces_are_not_counted() {
    try (TestEngine engine = engine("others")) {
      engine.start();
      fold();

      Activity other = engine.engine().queries().activity("other");

      assertThat(other.minutes()).allMatch(minute -> minute.started() == 0);
      assertThat(other.types()).isEmpty();
      assertThat(other.nextSchedules()).isEmpty();
    }
  }

  private static RunFilter since(@Nullable Instant time, Set<RunStatus> statuses) {
    return new RunFilter(
        NAMESPACE, statuses, null, null, time, null, null, null, null, null, false, false);
  }

  @Test
  void a_filter_that_must_read_runs_counts_up_to_ten_thousand() {
    try (TestEngine engine = engine("counts")) {
      database.execute(
          """
          INSERT INTO kagzi.workflow_runs
                 (run_id, namespace, ended, task_queue, workflow_type, status, created_at, finished_at)
          SELECT id, 'default', id, 'q', 't', 'COMPLETED', now(), now()
            FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 10001)) g
          """);
      Queries queries = engine.engine().queries();
      Instant before = Instant.parse("2020-01-01T00:00:00Z");

      assertThat(queries.count(since(before, Set.of()))).isEqualTo(new RunCount(10_000, false));
      database.execute(
          "DELETE FROM kagzi.workflow_runs WHERE run_id = (SELECT run_id FROM kagzi.workflow_runs LIMIT 1)");
      assertThat(queries.count(since(before, Set.of()))).isEqualTo(new RunCount(10_000, true));
      // Counted when they change, not by reading runs: these rows were inserted without that.
      assertThat(queries.count(RunFilter.all(NAMESPACE))).isEqualTo(new RunCount(0, true));
    }
  }

  @Test
  void ids_are_those_of_the_list_newest_first() {
    try (TestEngine engine = engine("ids")) {
      RunId first = engine.start();
      RunId second = engine.start();
      RunId third = engine.start();
      await(engine.engine().runs().cancel(NAMESPACE, second));
      Queries queries = engine.engine().queries();

      assertThat(queries.runIds(RunFilter.all(NAMESPACE), 10))
          .containsExactly(third, second, first);
      assertThat(queries.runIds(RunFilter.all(NAMESPACE), 2)).containsExactly(third, second);
      assertThat(queries.runIds(since(null, Set.of(RunStatus.CANCELLED, RunStatus.PENDING)), 10))
          .isEqualTo(List.of(third, second, first));
      assertThat(queries.runIds(since(null, Set.of(RunStatus.CANCELLED)), 10))
          .containsExactly(second);
    }
  }
}
