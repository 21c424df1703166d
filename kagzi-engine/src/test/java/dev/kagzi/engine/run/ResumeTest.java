package dev.kagzi.engine.run;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.stepDone;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Holds;
import dev.kagzi.engine.TestConfigs;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.WorkerId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Resuming runs whose code has caught a failure. */
class ResumeTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final RetryPolicy ONCE = new RetryPolicy(1, 10, 1.0, 10, 0, List.of());

  private TestEngine engine;
  private WorkerId worker;

  @BeforeEach
  void open(TestInfo test) {
    engine = TestEngine.start(database.config(), test.getTestMethod().orElseThrow().getName());
    worker = engine.register();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private ResumeResult resume(RunId run) {
    return await(engine.engine().runs().resume(NAMESPACE, run, null, false));
  }

  private ResumeResult force(RunId run) {
    return await(engine.engine().runs().resume(NAMESPACE, run, null, true));
  }

  private void failStep(Claim claim, String step, int attempt) {
    assertThat(engine.report(stepFailed(claim, step, attempt, ONCE)))
        .isInstanceOf(ReportResult.FinalFailure.class);
  }

  /** The run ends with the failure of a step, as the SDK reports it. */
  private static Report failedBy(Claim claim, String step) {
    return new Report.Failed(
        claim,
        new Failure(
            ErrorCode.INTERNAL, "boom", false, 0, "", "", Map.of("type", "Boom", "step", step)));
  }

  private void assertNext(Task task, Tuple... steps) {
    assertThat(task.steps())
        .extracting(RecordedStep::stepKey, step -> step.result().getClass().getSimpleName())
        .containsExactlyInAnyOrder(steps);
  }

  /** A run that books, fails a second booking, cancels the first one and ends with the failure. */
  private RunId runThatUndidItsWork() {
    RunId run = engine.start();
    Claim claim = engine.claimOne(worker).claim();
    engine.report(stepDone(claim, "flight", "1"));
    failStep(claim, "car", 1);
    engine.report(stepDone(claim, "cancel-flight", "2"));
    engine.report(failedBy(claim, "car"));
    return run;
  }

  @Test
  void a_failed_undo_step_is_executed_again_and_the_caught_failure_stays() {
    RunId run = engine.start();
    Claim first = engine.claimOne(worker).claim();
    engine.report(stepDone(first, "flight", "1"));
    failStep(first, "car", 1);
    failStep(first, "cancel-flight", 1);
    engine.report(failedBy(first, "cancel-flight"));

    assertThat(resume(run)).isEqualTo(new ResumeResult(true, RunStatus.PENDING));

    Task second = engine.claimOne(worker);
    assertNext(
        second,
        tuple("flight", "Output"),
        tuple("car", "FinalFailure"),
        tuple("cancel-flight", "Retry"));
    assertThat(engine.report(stepDone(second.claim(), "cancel-flight", 2, "2")))
        .isInstanceOf(ReportResult.Accepted.class);
  }

  @Test
  void a_caught_failure_stays_final_after_every_resume() {
    RunId run = engine.start();
    Claim first = engine.claimOne(worker).claim();
    failStep(first, "car", 1);
    failStep(first, "cancel-flight", 1);
    engine.report(failedBy(first, "cancel-flight"));
    resume(run);
    Claim second = engine.claimOne(worker).claim();
    failStep(second, "cancel-flight", 2);
    engine.report(failedBy(second, "cancel-flight"));

    resume(run);

    assertNext(
        engine.claimOne(worker), tuple("car", "FinalFailure"), tuple("cancel-flight", "Retry"));
  }

  @Test
  void a_failed_undo_step_is_executed_again_although_the_run_ended_with_the_caught_failure() {
    RunId run = engine.start();
    Claim first = engine.claimOne(worker).claim();
    failStep(first, "car", 1);
    engine.report(stepDone(first, "cancel-hotel", "1"));
    failStep(first, "cancel-flight", 1);
    engine.report(failedBy(first, "car"));

    assertThat(resume(run).resumed()).isTrue();

    assertNext(
        engine.claimOne(worker),
        tuple("car", "FinalFailure"),
        tuple("cancel-hotel", "Output"),
        tuple("cancel-flight", "Retry"));
  }

  @Test
  void a_run_that_undid_its_work_and_has_nothing_left_to_do_is_not_resumed() {
    RunId run = runThatUndidItsWork();

    assertThatThrownBy(() -> resume(run))
        .isInstanceOfSatisfying(
            Refusal.class,
            refusal -> assertThat(refusal.reason()).isEqualTo(Refusal.Reason.FAILED_PRECONDITION))
        .hasMessageContaining("step car")
        .hasMessageContaining("step cancel-flight")
        .hasMessageContaining("retry")
        .hasMessageContaining("force");
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.FAILED);
    assertThat(engine.run(run).attempts()).isEqualTo(1);
  }

  @Test
  void force_executes_all_failed_steps_again() {
    RunId run = runThatUndidItsWork();

    assertThat(force(run)).isEqualTo(new ResumeResult(true, RunStatus.PENDING));

    Task second = engine.claimOne(worker);
    assertNext(
        second, tuple("flight", "Output"), tuple("car", "Retry"), tuple("cancel-flight", "Output"));
    engine.report(stepDone(second.claim(), "car", 2, "3"));
    assertThat(engine.report(done(second.claim(), "4")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
  }

  /** The code may have been fixed: it receives the caught failure again and continues after it. */
  @Test
  void a_run_that_failed_outside_of_its_steps_continues_after_its_caught_failure() {
    RunId run = engine.start();
    Claim first = engine.claimOne(worker).claim();
    failStep(first, "fast", 1);
    engine.report(stepDone(first, "slow", "1"));
    engine.report(failed(first, "a bug"));

    assertThat(resume(run).resumed()).isTrue();

    assertNext(engine.claimOne(worker), tuple("fast", "FinalFailure"), tuple("slow", "Output"));
  }

  @Test
  void a_caught_failure_stays_final_for_simple_clients_too() {
    RunId run = engine.start();
    Claim first = engine.claimOne(worker).claim();
    failStep(first, "fast", 1);
    engine.report(stepDone(first, "slow", "1"));
    engine.report(failed(first, "a bug"));
    resume(run);
    engine.claimOne(worker);

    assertThatThrownBy(
            () ->
                await(
                    engine
                        .engine()
                        .reports()
                        .begin(
                            NAMESPACE,
                            run,
                            "fast",
                            StepKind.FUNCTION,
                            null,
                            null,
                            0,
                            Caller.UNKNOWN)))
        .isInstanceOfSatisfying(
            Refusal.class,
            refusal -> assertThat(refusal.code()).isEqualTo(Refusal.Code.STEP_FAILED))
        .hasMessage("boom");
  }

  @Test
  void a_terminated_run_is_resumed_only_by_force_and_keeps_its_caught_failures() {
    RunId run = engine.start();
    Claim first = engine.claimOne(worker).claim();
    failStep(first, "car", 1);
    engine.report(stepDone(first, "cancel-hotel", "1"));
    await(engine.engine().runs().terminate(NAMESPACE, run, "wrong customer"));

    assertThatThrownBy(() -> resume(run))
        .hasMessageContaining("terminated")
        .hasMessageContaining("force");
    assertThat(force(run).resumed()).isTrue();

    assertNext(
        engine.claimOne(worker), tuple("car", "FinalFailure"), tuple("cancel-hotel", "Output"));
  }

  /**
   * The steps of the transaction that ends the run are not stored yet, so they cannot be checked.
   */
  @Test
  void a_resume_in_the_same_batch_as_the_end_of_the_run_has_no_effect() throws Exception {
    engine.close();
    Holds holds = new Holds(database.config());
    EngineConfig config = TestConfigs.withJournal(oneLane());
    engine = TestEngine.start(database.config(), "one-batch", config, holds);
    worker = engine.register();
    RunId run = engine.start();
    Claim claim = engine.claimOne(worker).claim();
    failStep(claim, "car", 1);

    CompletableFuture<ResumeResult> together;
    try (Holds.Hold hold = holds.statement("INSERT INTO kagzi.workflow_runs")) {
      var unused = engine.engine().runs().start(engine.request("", null));
      hold.awaitReached();
      var unusedReports =
          engine
              .engine()
              .reports()
              .accept(NAMESPACE, List.of(stepDone(claim, "undo", "1"), failedBy(claim, "car")));
      together = engine.engine().runs().resume(NAMESPACE, run, null, false);
    }

    assertThat(await(together).resumed()).isFalse();
    assertThatThrownBy(() -> resume(run)).hasMessageContaining("step undo");
  }

  private static JournalConfig oneLane() {
    JournalConfig journal = JournalConfig.defaults();
    return new JournalConfig(
        1,
        journal.queueBytesMax(),
        journal.batchBytesMax(),
        journal.batchWritesMax(),
        journal.fullPatience(),
        journal.databasePatience());
  }
}
