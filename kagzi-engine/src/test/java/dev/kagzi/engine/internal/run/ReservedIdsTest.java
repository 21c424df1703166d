package dev.kagzi.engine.internal.run;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestOptions;
import dev.kagzi.engine.TestSchedules;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerRegistration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Clients may not use the external ids of the engine's own runs. */
class ReservedIdsTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static TestEngine engine;

  @BeforeAll
  static void open() {
    engine = TestEngine.start(database.config(), "reserved");
  }

  @AfterAll
  static void close() {
    engine.close();
  }

  @Test
  void clients_are_refused_every_external_id_of_the_engines_own_runs() {
    schedule();
    failWithBothHandlers();

    List<String> own =
        database.run(
            session ->
                session
                    .query(
                        "SELECT external_id FROM kagzi.workflow_runs WHERE external_id IS NOT NULL"
                            + " AND origin NOT IN ('CLIENT', 'RETRY')")
                    .list(row -> row.text("external_id")));

    assertThat(own).hasSizeGreaterThanOrEqualTo(4);
    assertThat(own).allSatisfy(ReservedIdsTest::assertRefused);
    // A new origin needs a run of it above.
    assertThat(Origin.values())
        .containsExactlyInAnyOrder(
            Origin.CLIENT,
            Origin.RETRY,
            Origin.SCHEDULE,
            Origin.FAILURE_HANDLER,
            // Children have no external id.
            Origin.CHILD);
  }

  @Test
  void a_run_of_the_engine_can_be_retried_with_its_external_id() {
    ScheduleView schedule = schedule();
    RunId run = engine.engine().scheduleStarts().trigger(NAMESPACE, schedule.id(), null);
    await(engine.engine().runs().cancel(NAMESPACE, run));

    RunId again = await(engine.engine().runs().retry(NAMESPACE, run, null, null)).runId();

    assertThat(engine.run(again).externalId()).isEqualTo(engine.run(run).externalId());
  }

  private static ScheduleView schedule() {
    ScheduleView schedule =
        engine
            .engine()
            .schedules()
            .create(
                TestSchedules.creation(
                    NAMESPACE, TestSchedules.spec("", "elsewhere", TYPE, "0 0 1 1 *")));
    Instant now = Instant.now();
    engine
        .engine()
        .scheduleStarts()
        .backfill(NAMESPACE, schedule.id(), now.minus(366, ChronoUnit.DAYS), now, null);
    engine.engine().scheduleStarts().trigger(NAMESPACE, schedule.id(), null);
    return schedule;
  }

  private static void failWithBothHandlers() {
    await(
        engine
            .engine()
            .workers()
            .register(
                new WorkerRegistration(
                    new QueueName(NAMESPACE, "handlers"),
                    List.of(new TypeVersion(FailureHandler.TYPE, "")),
                    false,
                    "host",
                    1,
                    "",
                    Map.of(),
                    null,
                    Map.of(),
                    ""),
                null));
    WorkerId worker = engine.register();
    engine.start(new TestOptions().withOnFailure("cleanup", "handlers").build());
    engine.report(failed(engine.claimOne(worker).claim(), "no"));
  }

  private static void assertRefused(String externalId) {
    String prefix =
        ReservedIds.PREFIXES.stream().filter(externalId::startsWith).findFirst().orElse("none");
    assertThatThrownBy(
            () ->
                await(
                    engine
                        .engine()
                        .runs()
                        .start(
                            new StartRequest(
                                NAMESPACE,
                                externalId,
                                "q",
                                TYPE,
                                "",
                                payload("1"),
                                null,
                                null,
                                StartOptions.NONE))))
        .isInstanceOfSatisfying(
            Refusal.class,
            refusal -> {
              assertThat(refusal.reason()).isEqualTo(Refusal.Reason.INVALID_ARGUMENT);
              assertThat(refusal.getMessage())
                  .contains("external_id: ", "does not begin with " + prefix, "reserved");
            });
  }
}
