package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.FilledDatabase.Filled;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.query.RunFilter;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.query.Stats;
import dev.kagzi.engine.run.CallbackResult;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.run.SignalResult;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.value.WorkerStatus;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Upgrades from every schema version to the newest, with data and with running servers. */
class UpgradeTest {
  private static final Set<Filled> ENDED =
      EnumSet.of(Filled.COMPLETED, Filled.CHILD, Filled.FAILED, Filled.CANCELLED, Filled.TIMED_OUT);

  private static final Set<Filled> OPEN =
      EnumSet.of(
          Filled.PENDING,
          Filled.RUNNING,
          Filled.SLEEPING,
          Filled.PARENT,
          Filled.BLOCKED,
          Filled.FIRED);

  @Test
  void every_migration_has_rows_from_which_the_upgrade_is_tested() {
    assertThat(FilledDatabase.versions())
        .as(
            "versions in FilledDatabase.ROWS (expected: one entry for each migration, with the rows"
                + " that a server of its version can write; empty if there are none)")
        .isEqualTo(VersionedDatabase.versions());
  }

  @Test
  void the_rows_are_in_every_table_and_have_every_status() throws Exception {
    VersionedDatabase database = FilledDatabase.at(newest());

    for (String table :
        database.values("SELECT tablename FROM pg_tables WHERE schemaname = 'kagzi'")) {
      assertThat(database.values("SELECT count(*) FROM kagzi." + table))
          .as("rows of %s", table)
          .doesNotContain("0");
    }
    assertThat(database.values("SELECT status FROM kagzi.workflow_runs"))
        .isEqualTo(names(RunStatus.values()));
    assertThat(database.values("SELECT status FROM kagzi.workers"))
        .isEqualTo(names(WorkerStatus.values()));
    assertThat(database.values("SELECT kind FROM kagzi.step_runs"))
        .isEqualTo(names(StepKind.values()));
  }

  private static Set<String> names(Enum<?>[] values) {
    return Arrays.stream(values).map(Enum::name).collect(Collectors.toCollection(TreeSet::new));
  }

  static List<Integer> versions() {
    return FilledDatabase.versions();
  }

  @ParameterizedTest
  @MethodSource("versions")
  void what_a_server_of_each_version_left_continues_under_the_newest(int version) throws Exception {
    VersionedDatabase database = FilledDatabase.at(version);
    EngineConfig config = EngineConfig.defaults().withCoordinatorInterval(Duration.ofMillis(100));

    try (TestEngine engine = TestEngine.start(database.config(), FilledDatabase.QUEUE, config)) {
      assertThat(database.values("SELECT max(version::int) FROM kagzi.schema_history"))
          .containsExactly(Integer.toString(newest()));
      assertLists(engine);
      Map<String, String> headers = version < 2 ? Map.of() : Map.of("tenant", "acme");
      assertThat(engine.run(Filled.SLEEPING.id()).setup().headers()).isEqualTo(headers);

      assertThat(engine.run(Filled.CANCELLED.id()).cancelRequestedAt() == null)
          .isEqualTo(version < 8);

      SignalRequest signal = new SignalRequest("approval", payload("1"), "second");
      assertThat(await(engine.engine().runs().signal(NAMESPACE, Filled.BLOCKED.id(), signal)))
          .isEqualTo(new SignalResult(Filled.BLOCKED.id(), version >= 4));

      assertThat(
              engine.engine().queries().published(NAMESPACE, Filled.BLOCKED.id(), "", 0).values())
          .hasSize(version < 5 ? 0 : 1);

      assertThat(
              await(
                  engine
                      .engine()
                      .runs()
                      .answerCallback(
                          NAMESPACE,
                          Filled.BLOCKED.id(),
                          "payment",
                          new CallbackAnswer.Completed(payload("1")))))
          .isEqualTo(new CallbackResult(version >= 6, version >= 6));

      boolean chained = version >= 7;
      if (chained) {
        assertThat(await(engine.engine().runs().signal(NAMESPACE, Filled.COMPLETED.id(), signal)))
            .isEqualTo(new SignalResult(Filled.COMPLETED.id(), true));
      }

      if (version >= 9) {
        await()
            .atMost(Duration.ofSeconds(20))
            .untilAsserted(
                () ->
                    assertThat(
                            database.values(
                                "SELECT right(run_id::text, 4) || coalesce(refusal_code, '')"
                                    + " FROM kagzi.start_requests"))
                        .containsExactly("02e1NOT_FOUND", "02e2INVALID_ARGUMENT"));
      }
      if (version >= 12) {
        await()
            .atMost(Duration.ofSeconds(20))
            .untilAsserted(
                () ->
                    assertThat(
                            database.values(
                                "SELECT signal_id || coalesce(refusal_code, '')"
                                    + " FROM kagzi.signal_requests"))
                        .as("second is stored already")
                        .containsExactly("refusedINVALID_ARGUMENT", "thirdNOT_FOUND"));
      }
      complete(engine, ids(OPEN));
      assertThat(await(engine.end(Filled.COMPLETED.id())).orElseThrow().runId())
          .isEqualTo(chained ? Filled.BLOCKED.id() : Filled.COMPLETED.id());
      assertThat(engine.run(Filled.BLOCKED.id()).setup().bufferedSignals()).isEqualTo(1);
      RunId triggered =
          engine.engine().scheduleStarts().trigger(NAMESPACE, Filled.TEMPLATE.id(), null);
      RunId retried =
          await(engine.engine().runs().retry(NAMESPACE, Filled.FAILED.id(), null, null)).runId();
      assertThat(engine.run(retried).setup().headers()).isEqualTo(headers);
      assertThat(engine.start("d").existed()).as("external id of an ended run").isFalse();
      RunId restarted = engine.engine().queries().byExternalId(NAMESPACE, "d").runId();
      complete(engine, Set.of(triggered, retried, restarted));

      assertThat(engine.engine().queries().stats(NAMESPACE).runs(RunStatus.COMPLETED))
          .isEqualTo(OPEN.size() + 2 + 3);
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> database.values("SELECT task FROM kagzi.maintenance_tasks").isEmpty());
      assertThat(
              database.values(
                  "SELECT step_id FROM kagzi.step_runs WHERE run_id = '%s'"
                      .formatted(Filled.PURGED.id())))
          .as("steps of a purged run")
          .isEmpty();
      assertThat(
              database.values(
                  "SELECT signal_id FROM kagzi.run_signals WHERE run_id = '%s'"
                      .formatted(Filled.PURGED.id())))
          .as("signals of a purged run")
          .isEmpty();
    }
  }

  private static void assertLists(TestEngine engine) {
    Set<RunId> all = new HashSet<>(ids(OPEN));
    all.addAll(ids(ENDED));
    List<RunView> runs =
        engine.engine().queries().runs(RunFilter.all(NAMESPACE), PageSpec.FIRST).items();
    assertThat(runs).extracting(RunView::runId).containsExactlyInAnyOrderElementsOf(all);
    for (Filled run : EnumSet.of(Filled.FAILED, Filled.CANCELLED, Filled.TIMED_OUT)) {
      assertThat(engine.run(run.id()).status()).isEqualTo(RunStatus.valueOf(run.name()));
    }
    assertThat(engine.error(Filled.FAILED.id())).isEqualTo("no money");
    Stats stats = engine.engine().queries().stats(NAMESPACE);
    assertThat(stats.runs()).isEqualTo(all.size());
    assertThat(stats.runs(RunStatus.COMPLETED)).isEqualTo(2);
    assertThat(stats.schedules()).isEqualTo(2);
    assertThat(stats.schedulesEnabled()).isEqualTo(1);
    assertThat(engine.engine().queries().workers(NAMESPACE, null, null, PageSpec.FIRST).items())
        .hasSize(3);
    ScheduleView template = engine.engine().schedules().byName(NAMESPACE, "yearly");
    assertThat(template.id()).isEqualTo(Filled.TEMPLATE.id());
    assertThat(template.completedRuns()).isEqualTo(1);
    assertThat(template.failedRuns()).isEqualTo(1);
  }

  /** Claims these runs and no others, and completes them. */
  private static void complete(TestEngine engine, Set<RunId> runs) {
    WorkerId worker = engine.register();
    Map<RunId, Task> tasks = new HashMap<>();
    while (tasks.size() < runs.size()) {
      await(engine.poll(worker, runs.size()).tasks())
          .forEach(task -> tasks.put(task.claim().runId(), task));
    }
    assertThat(tasks).containsOnlyKeys(runs);
    Task taken = tasks.get(Filled.RUNNING.id());
    if (taken != null) {
      assertThat(taken.claim().epoch()).isGreaterThan(1);
      assertSteps(taken, "charge");
    }
    Task awake = tasks.get(Filled.SLEEPING.id());
    if (awake != null) {
      assertSteps(awake, "nap");
    }
    Task parent = tasks.get(Filled.PARENT.id());
    if (parent != null) {
      assertSteps(parent, "child");
    }
    tasks.values().forEach(task -> engine.report(stepDone(task.claim(), "last", "1")));
    tasks.values().forEach(task -> engine.report(done(task.claim(), "\"out\"")));
    runs.forEach(run -> assertThat(engine.run(run).status()).isEqualTo(RunStatus.COMPLETED));
  }

  private static void assertSteps(Task task, String step) {
    assertThat(task.steps())
        .singleElement()
        .satisfies(recorded -> assertThat(recorded.stepKey()).isEqualTo(step));
  }

  private static Set<RunId> ids(Set<Filled> runs) {
    return runs.stream().map(Filled::id).collect(Collectors.toSet());
  }

  // A server of the previous version does not know new columns. So a migration may only add what
  // can be omitted.
  @Test
  void migrations_only_add_what_an_older_server_can_leave_out() throws Exception {
    List<Integer> versions = VersionedDatabase.versions();
    for (int i = 1; i < versions.size(); i++) {
      int version = versions.get(i);
      VersionedDatabase database = VersionedDatabase.at(versions.get(i - 1));
      Set<String> before = columns(database, "true");
      database.migrate(version);

      Set<String> lost = new TreeSet<>(before);
      lost.removeAll(columns(database, "true"));
      assertThat(lost).as("gone or changed by V%d", version).isEmpty();
      Set<String> required = columns(database, "is_nullable = 'NO' AND column_default IS NULL");
      required.removeAll(before);
      required.removeIf(column -> !tables(before).contains(table(column)));
      assertThat(required).as("new and required in V%d", version).isEmpty();
    }
  }

  @Test
  void a_server_that_runs_goes_on_while_a_newer_one_migrates() throws Exception {
    VersionedDatabase database = VersionedDatabase.empty();
    try (TestEngine engine = TestEngine.start(database.config(), "q")) {
      WorkerId worker = engine.register();
      // Often enough that the driver uses server-side prepared statements.
      for (int i = 0; i < 10; i++) {
        engine.start();
        finish(engine, worker);
      }
      RunId open = engine.start();

      database.execute(
          """
          ALTER TABLE kagzi.workflow_runs ADD COLUMN future text, ADD COLUMN later int DEFAULT 7;
          ALTER TABLE kagzi.step_runs ADD COLUMN future text;
          ALTER TABLE kagzi.workflow_payloads ADD COLUMN future text;
          ALTER TABLE kagzi.workers ADD COLUMN future text;
          ALTER TABLE kagzi.namespaces ADD COLUMN future text;
          ALTER TABLE kagzi.run_messages ADD COLUMN future text;
          CREATE TABLE kagzi.future (id int);
          CREATE INDEX ON kagzi.workflow_runs (later) WHERE future IS NOT NULL
          """);

      finish(engine, worker);
      assertThat(engine.run(open).status()).isEqualTo(RunStatus.COMPLETED);
      engine.start("after");
      finish(engine, worker);
      assertThat(engine.register()).isNotEqualTo(worker);
    }
  }

  private static void finish(TestEngine engine, WorkerId worker) {
    Task task = engine.claimOne(worker);
    engine.report(stepDone(task.claim(), "s", "1"));
    engine.report(done(task.claim(), "1"));
  }

  private static int newest() {
    return VersionedDatabase.versions().getLast();
  }

  private static Set<String> columns(VersionedDatabase database, String condition)
      throws SQLException {
    return database.values(
        "SELECT table_name || '.' || column_name || ' ' || udt_name"
            + " FROM information_schema.columns WHERE table_schema = 'kagzi' AND "
            + condition);
  }

  private static Set<String> tables(Set<String> columns) {
    return columns.stream().map(UpgradeTest::table).collect(Collectors.toSet());
  }

  private static String table(String column) {
    return column.substring(0, column.indexOf('.'));
  }
}
