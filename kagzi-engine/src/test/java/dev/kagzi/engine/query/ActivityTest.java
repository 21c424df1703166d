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
import dev.kagzi.engine.page.PageSpec;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ActivityTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static TestEngine engine(String queue) {
    database.execute(
        "TRUNCATE kagzi.servers, kagzi.run_rates, kagzi.run_changes, kagzi.run_counts, kagzi.workflow_runs CASCADE");
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
  void due_runs_are_those_that_a_worker_could_take_whatever_their_status() {
    try (TestEngine engine = engine("due")) {
      engine.start();
      RunId overdue = engine.start();
      RunId asleep = engine.start();
      setSleeping(overdue, "- interval '4 hours'");
      setSleeping(asleep, "+ interval '4 hours'");
      Queries queries = engine.engine().queries();

      QueueView queue = queries.queue(NAMESPACE, "due").queue();

      assertThat(queue.pending()).isEqualTo(1);
      assertThat(queue.sleeping()).isEqualTo(2);
      assertThat(queue.due()).isEqualTo(new RunCount(2, true));
      assertThat(queue.oldestDueMs()).isBetween(14_400_000L, 14_500_000L);
      assertThat(queries.count(due("due"))).isEqualTo(queue.due());
      assertThat(queries.runs(due("due"), PageSpec.FIRST).items())
          .extracting(RunView::runId)
          .contains(overdue)
          .doesNotContain(asleep)
          .hasSize(2);
    }
  }

  @Test
  void due_runs_are_counted_up_to_a_thousand_of_a_type() {
    try (TestEngine engine = engine("many")) {
      engine.start();
      database.execute(
          """
          INSERT INTO kagzi.workflow_runs
                 (run_id, namespace, ended, task_queue, workflow_type, status, created_at,
                  available_at)
          SELECT gen_random_uuid(), 'default', '00000000-0000-0000-0000-000000000000', 'many', '%s',
                 'PENDING', kagzi.clock(), kagzi.clock()
            FROM generate_series(1, 1000)
          """
              .formatted(TYPE));

      QueueView queue = engine.engine().queries().queue(NAMESPACE, "many").queue();

      assertThat(queue.due()).isEqualTo(new RunCount(1_000, false));
    }
  }

  private static void setSleeping(RunId run, String dueAt) {
    database.execute(
        """
        WITH changed AS (
          UPDATE kagzi.workflow_runs
             SET status = 'SLEEPING', available_at = kagzi.clock() %s
           WHERE run_id = '%s'
          RETURNING namespace, task_queue, workflow_type, version)
        INSERT INTO kagzi.run_changes
               (namespace, task_queue, workflow_type, version, from_status, to_status, runs)
        SELECT namespace, task_queue, workflow_type, version, 'PENDING', 'SLEEPING', 1 FROM changed
        """
            .formatted(dueAt, run));
  }

  private static RunFilter due(String queue) {
    return new RunFilter(
        NAMESPACE, Set.of(), null, queue, null, null, null, null, null, null, false, false, true,
        null);
  }

  @Test
  void the_runs_of_a_worker_are_listed_with_their_steps_the_longest_held_first() {
    try (TestEngine engine = engine("held")) {
      WorkerId worker = engine.register();
      WorkerId idle = engine.register();
      engine.start();
      engine.start();
      engine.start();
      RunId first = engine.claimOne(worker).claim().runId();
      RunId second = engine.claimOne(worker).claim().runId();
      Queries queries = engine.engine().queries();

      List<ExecutedRun> held = queries.executedBy(queries.worker(NAMESPACE, worker));

      assertThat(held).extracting(ExecutedRun::runId).containsExactly(first, second);
      assertThat(held).allMatch(run -> run.type().equals(TYPE) && run.step() == null);
      assertThat(queries.executedBy(queries.worker(NAMESPACE, idle))).isEmpty();
      assertThat(queries.count(of(worker))).isEqualTo(new RunCount(2, true));
      assertThat(queries.count(of(idle))).isEqualTo(new RunCount(0, true));
    }
  }

  private static RunFilter of(WorkerId worker) {
    return new RunFilter(
        NAMESPACE, Set.of(), null, null, null, null, null, null, null, null, false, false, false,
        worker);
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
      assertThat(number("SELECT count(*) AS n FROM kagzi.run_rates WHERE workflow_type = 'old'"))
          .isEqualTo(5);
    }
  }

  @Test
  void an_engine_that_is_closed_counts_its_changes_in_their_minute() {
    try (TestEngine engine = engine("closed")) {
      engine.start();
    }

    try (TestEngine next = restarted()) {
      assertThat(number("SELECT count(*) AS n FROM kagzi.run_changes")).isZero();
      assertThat(activity(next).types()).containsExactly(new Activity.TypeRate(TYPE, 1, 0, 0));
    }
  }

  @ParameterizedTest
  @CsvSource({"10, 1", "120, 0"})
  void changes_of_a_killed_server_are_counted_when_it_was_alive(int minutesAgo, int started) {
    engine("killed").close();
    database.execute(
        """
        INSERT INTO kagzi.servers (server_id, hostname, started_at, heartbeat_at)
        SELECT gen_random_uuid(), 'gone', t.at, t.at
          FROM (SELECT kagzi.clock() - %d * interval '1 minute' AS at) AS t
        """
            .formatted(minutesAgo));
    leaveChangeBehind();

    try (TestEngine next = restarted()) {
      fold();
      List<Minute> minutes = activity(next).minutes();

      assertThat(minutes.stream().mapToLong(Minute::started).sum()).isEqualTo(started);
      assertThat(minutes.getLast().started()).isZero();
      assertThat(next.engine().queries().stats(NAMESPACE).runs(RunStatus.PENDING)).isEqualTo(1);
    }
  }

  @Test
  void changes_of_an_unknown_time_are_not_counted_in_the_last_hour() {
    engine("unknown").close();
    leaveChangeBehind();

    try (TestEngine next = restarted()) {
      fold();

      assertThat(activity(next).types()).isEmpty();
    }
  }

  private static void leaveChangeBehind() {
    database.execute(
        """
        INSERT INTO kagzi.run_changes
               (namespace, task_queue, workflow_type, version, from_status, to_status, runs)
        VALUES ('default', 'q', 'old', '', NULL, 'PENDING', 1)
        """);
  }

  private static TestEngine restarted() {
    EngineConfig config = EngineConfig.defaults().withCoordinatorInterval(Duration.ofMinutes(1));
    return TestEngine.start(database.config(), "restarted", config);
  }

  private static long number(String sql) {
    return database.run(session -> session.query(sql).first(row -> row.bigint("n")).orElseThrow());
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
      // Without a filter, the count comes from counters that change with each run. These rows were
      // inserted directly and did not change them.
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
