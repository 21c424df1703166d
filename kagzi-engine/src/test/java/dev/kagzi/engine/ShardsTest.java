package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kagzi.engine.config.ScheduleConfig;
import dev.kagzi.engine.internal.schedule.ScheduleFirer;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult.ChildAccepted;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.schedule.Overlap;
import dev.kagzi.engine.schedule.ScheduleSpec;
import dev.kagzi.engine.schedule.ScheduleUpdate;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.schedule.Schedules;
import dev.kagzi.engine.schedule.SilentEvents;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.Shard;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Where each kind of run and schedule gets its shard from. */
class ShardsTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private final TestClock clock = new TestClock(database);
  private TestEngine engine;
  private String queue;
  private WorkerId worker;

  @BeforeEach
  void open(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
    // The engine does not fire by itself; the test calls the firer.
    engine =
        TestEngine.start(
            database.config(),
            queue,
            EngineConfig.defaults().withCoordinatorInterval(Duration.ofMinutes(1)));
    worker = engine.register();
  }

  @AfterEach
  void close() {
    engine.close();
    clock.reset();
  }

  private static RunId elsewhere(Shard shard) {
    return RunId.next(new Shard(shard.bits() ^ 1));
  }

  private void assertRefused(ThrowingCallable call, String field, Shard expected) {
    assertThat(catchThrowableOfType(Refusal.class, call))
        .hasMessageStartingWith(field + ": ")
        .hasMessageContaining("ends with " + expected);
  }

  @Test
  void a_start_takes_its_shard_from_the_external_id() {
    Shard shard = Shard.of(NAMESPACE, "order-42");

    assertThat(engine.start("order-42").runId().shard()).isEqualTo(shard);
    assertRefused(
        () -> await(engine.engine().runs().start(engine.request("order-42", elsewhere(shard)))),
        "run_id",
        shard);
  }

  @Test
  void starts_without_an_external_id_are_spread() {
    Set<Shard> shards = new HashSet<>();
    for (int i = 0; i < 20; i++) {
      shards.add(engine.start().shard());
    }

    assertThat(shards).hasSizeGreaterThan(1);
  }

  @Test
  void a_retried_run_keeps_the_shard() {
    RunId named = engine.start("order-43").runId();
    engine.report(done(engine.claimOne(worker).claim(), "1"));
    assertRefused(
        () -> engine.engine().runs().retry(NAMESPACE, named, elsewhere(named.shard()), null),
        "new_run_id",
        named.shard());
    assertThat(retry(named).shard()).isEqualTo(named.shard());
    engine.report(done(engine.claimOne(worker).claim(), "1"));

    RunId unnamed = engine.start();
    engine.report(done(engine.claimOne(worker).claim(), "1"));
    assertThat(retry(unnamed).shard()).isEqualTo(unnamed.shard());
  }

  private RunId retry(RunId run) {
    RunId retried = await(engine.engine().runs().retry(NAMESPACE, run, null, null)).runId();
    assertThat(retried).isNotEqualTo(run);
    return retried;
  }

  @Test
  void a_child_keeps_the_shard_unless_it_has_an_external_id() {
    RunId parent = engine.start();
    Claim claim = engine.claimOne(worker).claim();

    assertThat(child(claim, "awaited", false).shard()).isEqualTo(parent.shard());
    assertThat(child(claim, "detached", true).shard()).isEqualTo(parent.shard());
    assertThat(startInStep(parent, "").shard()).isEqualTo(parent.shard());
    assertThat(startInStep(parent, "order-44").shard()).isEqualTo(Shard.of(NAMESPACE, "order-44"));
  }

  private RunId child(Claim parent, String step, boolean detached) {
    StartRequest start =
        new StartRequest(NAMESPACE, "", "", TYPE, "", payload("1"), null, null, StartOptions.NONE);
    return ((ChildAccepted)
            engine.report(new Report.ChildStarted(parent, step, 1, start, detached)))
        .child();
  }

  private RunId startInStep(RunId parent, String externalId) {
    StartOptions options =
        new TestOptions().withParent(new StartOptions.Parent(parent, "step")).build();
    StartRequest start =
        new StartRequest(NAMESPACE, externalId, queue, TYPE, "", payload("1"), null, null, options);
    return await(engine.engine().runs().start(start)).runId();
  }

  @Test
  void a_failure_handler_keeps_the_shard_of_the_failed_run() {
    RunId run = engine.start(new TestOptions().withOnFailure("cleanup", queue).build());
    engine.report(failed(engine.claimOne(worker).claim(), "boom"));

    RunId handler = Objects.requireNonNull(engine.run(run).setup().failureHandler());
    assertThat(handler.shard()).isEqualTo(run.shard());
  }

  private Schedules.Creation daily(String name, @Nullable RunId id) {
    ScheduleSpec spec = TestSchedules.spec(name, queue, TYPE, "0 0 * * *");
    ScheduleSpec buffering =
        new ScheduleSpec(
            spec.name(),
            spec.taskQueue(),
            spec.workflowType(),
            spec.version(),
            spec.cronExpr(),
            spec.timeZone(),
            spec.input(),
            Overlap.BUFFER_ONE,
            spec.maxCatchup(),
            spec.jitterMs(),
            null,
            null,
            null,
            "",
            "");
    return new Schedules.Creation(NAMESPACE, buffering, id, null, false, null);
  }

  @Test
  void a_schedule_takes_its_shard_from_its_name_when_it_is_created() {
    Schedules schedules = engine.engine().schedules();
    Shard shard = Shard.of(NAMESPACE, "nightly");

    assertRefused(() -> schedules.create(daily("nightly", elsewhere(shard))), "schedule_id", shard);
    ScheduleView created = schedules.create(daily("nightly", null));
    ScheduleView renamed = schedules.update(NAMESPACE, created.id(), renamed("daily"), null);

    assertThat(created.id().shard()).isEqualTo(shard);
    assertThat(renamed.spec().name()).isEqualTo("daily");
    assertThat(renamed.id()).isEqualTo(created.id());
    assertThat(trigger(renamed, null).shard()).isEqualTo(shard);
  }

  private static ScheduleUpdate renamed(String name) {
    return new ScheduleUpdate(
        name, null, null, null, null, null, null, null, null, null, null, false, null, null, null,
        null, null, null);
  }

  private RunId trigger(ScheduleView schedule, @Nullable RunId id) {
    return engine.engine().scheduleStarts().trigger(NAMESPACE, schedule.id(), id);
  }

  @Test
  void all_runs_of_a_schedule_have_its_shard() {
    ScheduleView schedule = engine.engine().schedules().create(daily("", null));
    Shard shard = schedule.id().shard();
    Instant fired = Objects.requireNonNull(schedule.nextFireAt());
    try (ScheduleFirer firer =
        new ScheduleFirer(
            database.open(),
            ScheduleConfig.defaults(),
            Duration.ofSeconds(1),
            new SilentEvents())) {
      clock.at(fired.plusSeconds(1));
      firer.fireDue(() -> {});
      Claim first = engine.claimOne(worker).claim();
      clock.at(fired.plus(Duration.ofDays(1)).plusSeconds(1));
      firer.fireDue(() -> {});
      assertThat(runs(schedule)).as("fired, then buffered").hasSize(1);
      engine.report(done(first, "1"));
      assertThat(runs(schedule)).as("started from the buffer").hasSize(2);
    }

    trigger(schedule, null);
    assertRefused(() -> trigger(schedule, elsewhere(shard)), "run_id", shard);
    engine
        .engine()
        .scheduleStarts()
        .backfill(NAMESPACE, schedule.id(), fired.minus(Duration.ofDays(3)), fired, null);

    assertThat(runs(schedule))
        .hasSize(2 + 1 + 3)
        .allSatisfy(run -> assertThat(run.shard()).isEqualTo(shard));
  }

  private List<RunId> runs(ScheduleView schedule) {
    return database.run(
        session ->
            session
                .query("SELECT run_id FROM kagzi.workflow_runs WHERE schedule_id = ?")
                .bind(schedule.id().value())
                .list(row -> row.runId("run_id")));
  }
}
