package dev.kagzi.engine.internal.run;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.stepDone;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestOptions;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ResumeResult;
import dev.kagzi.engine.run.RetryResult;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.run.Runs;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Terminating, retrying and resuming runs. */
class TerminateRetryResumeTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final RetryPolicy POLICY = new RetryPolicy(1, 10, 1.0, 10, 0, List.of("x"));

  private String queue;
  private TestEngine engine;
  private WorkerId worker;

  @BeforeEach
  void open(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
    engine = TestEngine.start(database.config(), queue);
    worker = engine.register();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private Runs runs() {
    return engine.engine().runs();
  }

  private RunId startWithEverything() {
    StartOptions options =
        new TestOptions()
            .withExecutionTimeoutMs(3_600_000)
            .withStepTimeoutMs(5_000)
            .withHeartbeatTimeoutMs(9_000)
            .withOnFailure("cleanup", "repairs")
            .build();
    return await(
            runs()
                .start(
                    new StartRequest(
                        NAMESPACE,
                        "again-" + queue,
                        queue,
                        TYPE,
                        "",
                        payload("\"in\""),
                        POLICY,
                        null,
                        options)))
        .runId();
  }

  @Test
  void a_terminated_run_is_failed_with_the_reason_and_only_once() {
    RunId run = engine.start();
    Task task = engine.claimOne(worker);

    assertThat(await(runs().terminate(NAMESPACE, run, "no longer needed")))
        .isEqualTo(new CancelResult(true, RunStatus.FAILED));
    assertThat(await(runs().terminate(NAMESPACE, run, "no longer needed")))
        .isEqualTo(new CancelResult(true, RunStatus.FAILED));
    assertThat(await(runs().terminate(NAMESPACE, run, "again")))
        .isEqualTo(new CancelResult(false, RunStatus.FAILED));

    assertThat(engine.error(run)).isEqualTo("terminated: no longer needed");
    assertThat(engine.report(done(task.claim(), "1")))
        .isEqualTo(new ReportResult.ClaimLost(RunStatus.FAILED));
  }

  @Test
  void pending_and_sleeping_runs_are_terminated_too() {
    RunId pending = engine.start();
    await(runs().terminate(NAMESPACE, pending, ""));
    RunId sleeping = engine.start();
    engine.report(TestEngine.sleep(engine.claimOne(worker).claim(), "nap", 3_600_000));
    await(runs().terminate(NAMESPACE, sleeping, ""));

    assertThat(engine.run(pending).status()).isEqualTo(RunStatus.FAILED);
    assertThat(engine.run(sleeping).status()).isEqualTo(RunStatus.FAILED);
    assertThat(engine.run(sleeping).wakeUpAt()).isNull();
  }

  @Test
  void a_retry_has_all_options_of_the_first_start() {
    RunId run = startWithEverything();
    engine.report(failed(engine.claimOne(worker).claim(), "no"));

    RetryResult result = await(runs().retry(NAMESPACE, run, null, null));

    assertThat(result.alreadyRunning()).isFalse();
    RunView first = engine.run(run);
    RunView second = engine.run(result.runId());
    assertThat(second.runId()).isNotEqualTo(run);
    assertThat(second.status()).isEqualTo(RunStatus.PENDING);
    assertThat(second.input()).isEqualTo(first.input());
    assertThat(second.externalId()).isEqualTo(first.externalId());
    assertThat(second.origin()).isEqualTo(Origin.RETRY);
    assertThat(second.setup().retryOf()).isEqualTo(run);
    assertThat(second.setup().retryPolicy()).isEqualTo(POLICY);
    assertThat(second.setup().executionTimeoutMs()).isEqualTo(3_600_000);
    assertThat(second.setup().stepTimeoutMs()).isEqualTo(5_000);
    assertThat(second.setup().heartbeatTimeoutMs()).isEqualTo(9_000);
    assertThat(second.setup().onFailureWorkflow()).isEqualTo("cleanup");
    assertThat(second.setup().onFailureTaskQueue()).isEqualTo("repairs");
    assertThat(second.deadlineAt()).isAfter(Instant.now().plusSeconds(3_000));
  }

  @Test
  void an_active_run_is_not_retried_nor_one_whose_external_id_is_active() {
    RunId run = startWithEverything();
    assertThat(await(runs().retry(NAMESPACE, run, null, null)))
        .isEqualTo(new RetryResult(run, true));
    await(runs().cancel(NAMESPACE, run));
    RunId second = await(runs().retry(NAMESPACE, run, null, null)).runId();

    assertThat(await(runs().retry(NAMESPACE, run, null, null)))
        .isEqualTo(new RetryResult(second, true));
  }

  @Test
  void an_active_run_without_an_external_id_is_not_retried_either() {
    RunId run = engine.start();

    assertThat(await(runs().retry(NAMESPACE, run, null, null)))
        .isEqualTo(new RetryResult(run, true));
  }

  @Test
  void a_repeated_retry_with_the_same_id_is_one_run() {
    RunId run = engine.start();
    engine.report(done(engine.claimOne(worker).claim(), "1"));
    RunId chosen = RunId.next();

    assertThat(await(runs().retry(NAMESPACE, run, chosen, null)))
        .isEqualTo(new RetryResult(chosen, false));
    assertThat(await(runs().retry(NAMESPACE, run, chosen, null)))
        .isEqualTo(new RetryResult(chosen, false));
  }

  @Test
  void a_run_of_another_namespace_is_not_found() {
    RunId run = engine.start();

    assertThatThrownBy(() -> await(runs().retry("other", run, null, null)))
        .hasMessageContaining(run.toString());
    assertThatThrownBy(() -> await(runs().resume("other", run, null, false)))
        .hasMessageContaining(run.toString());
    assertThatThrownBy(() -> await(runs().terminate("other", run, "")))
        .hasMessageContaining(run.toString());
  }

  @Test
  void a_resumed_run_keeps_its_completed_steps_and_executes_the_failed_one_with_fresh_attempts() {
    RunId run = startWithEverything();
    Task first = engine.claimOne(worker);
    engine.report(stepDone(first.claim(), "a", "1"));
    assertThat(engine.report(stepFailed(first.claim(), "b", 1, null)))
        .isInstanceOf(ReportResult.FinalFailure.class);
    engine.report(failed(first.claim(), "b failed"));
    Instant before = engine.run(run).deadlineAt();
    database.execute(
        "UPDATE kagzi.workflow_runs SET deadline_at = deadline_at - interval '1 hour'"
            + " WHERE run_id = '"
            + run
            + "'");

    assertThat(await(runs().resume(NAMESPACE, run, null, false)))
        .isEqualTo(new ResumeResult(true, RunStatus.PENDING));
    assertThat(await(runs().resume(NAMESPACE, run, null, false)))
        .isEqualTo(new ResumeResult(false, RunStatus.PENDING));

    RunView resumed = engine.run(run);
    assertThat(resumed.attempts()).isEqualTo(2);
    assertThat(resumed.finishedAt()).isNull();
    assertThat(resumed.deadlineAt()).isAfterOrEqualTo(before);
    Task second = engine.claimOne(worker);
    assertThat(second.steps())
        .extracting(RecordedStep::stepKey, step -> step.result().getClass().getSimpleName())
        .containsExactlyInAnyOrder(tuple("a", "Output"), tuple("b", "Retry"));
    engine.report(stepDone(second.claim(), "b", 2, "2"));
    assertThat(engine.report(done(second.claim(), "3")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
    assertThat(engine.run(run).error()).isNull();
  }

  @Test
  void a_run_that_was_ended_during_a_sleep_continues_the_sleep_when_it_is_resumed() {
    RunId run = engine.start();
    engine.report(TestEngine.sleep(engine.claimOne(worker).claim(), "nap", 3_600_000));
    Instant wakeUpAt = engine.run(run).wakeUpAt();
    await(runs().terminate(NAMESPACE, run, "too early"));

    await(runs().resume(NAMESPACE, run, null, true));

    Task resumed = engine.claimOne(worker);
    assertThat(resumed.steps())
        .extracting(RecordedStep::stepKey, step -> step.result().getClass().getSimpleName())
        .containsExactly(tuple("nap", "Sleeping"));
    engine.report(TestEngine.sleep(resumed.claim(), "nap", 3_600_000));
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.SLEEPING);
    assertThat(engine.run(run).wakeUpAt()).isEqualTo(wakeUpAt);
  }

  @Test
  void callers_that_await_a_resumed_run_receive_its_new_completion() {
    RunId run = engine.start();
    engine.report(failed(engine.claimOne(worker).claim(), "no"));
    assertThat(await(engine.end(run)).orElseThrow().status()).isEqualTo(RunStatus.FAILED);
    await(runs().resume(NAMESPACE, run, null, false));

    CompletableFuture<Optional<RunEnd>> end = engine.end(run);
    engine.report(done(engine.claimOne(worker).claim(), "1"));

    assertThat(await(end).orElseThrow().status()).isEqualTo(RunStatus.COMPLETED);
  }

  @Test
  void runs_that_completed_or_were_cancelled_are_not_resumed() {
    RunId completed = engine.start();
    engine.report(done(engine.claimOne(worker).claim(), "1"));
    RunId cancelled = engine.start();
    await(runs().cancel(NAMESPACE, cancelled));

    assertThat(await(runs().resume(NAMESPACE, completed, null, false)))
        .isEqualTo(new ResumeResult(false, RunStatus.COMPLETED));
    assertThat(await(runs().resume(NAMESPACE, cancelled, null, false)))
        .isEqualTo(new ResumeResult(false, RunStatus.CANCELLED));
  }

  @Test
  void a_run_whose_external_id_was_taken_by_another_is_not_resumed() {
    RunId run = startWithEverything();
    engine.report(failed(engine.claimOne(worker).claim(), "no"));
    RunId successor = startWithEverything();

    assertThatThrownBy(() -> await(runs().resume(NAMESPACE, run, null, false)))
        .hasMessageContaining(successor.toString());
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.FAILED);
  }

  @Test
  void a_resumed_run_has_its_external_id_again() {
    RunId run = startWithEverything();
    engine.report(failed(engine.claimOne(worker).claim(), "no"));

    await(runs().resume(NAMESPACE, run, null, false));

    assertThat(startWithEverything()).isEqualTo(run);
  }

  @Test
  void a_step_that_waited_for_its_retry_is_executed_at_once_when_its_run_is_resumed() {
    RunId run = engine.start();
    RetryPolicy hourly = new RetryPolicy(3, 3_600_000, 1.0, 3_600_000, 0, List.of());
    engine.report(stepFailed(engine.claimOne(worker).claim(), "charge", 1, hourly));
    await(runs().terminate(NAMESPACE, run, "broken"));

    await(runs().resume(NAMESPACE, run, null, true));

    assertThat(engine.claimOne(worker).steps().getFirst().result())
        .isInstanceOfSatisfying(
            RecordedStep.Result.Retry.class, retry -> assertThat(retry.delayMs()).isZero());
  }

  @Test
  void a_repeated_resume_after_a_second_failure_is_not_executed_twice() {
    RunId run = engine.start();
    engine.report(failed(engine.claimOne(worker).claim(), "no"));
    assertThat(await(runs().resume(NAMESPACE, run, 1, false)))
        .isEqualTo(new ResumeResult(true, RunStatus.PENDING));
    engine.report(failed(engine.claimOne(worker).claim(), "no again"));

    assertThat(await(runs().resume(NAMESPACE, run, 1, false)))
        .isEqualTo(new ResumeResult(true, RunStatus.FAILED));
    assertThat(engine.run(run).attempts()).isEqualTo(2);
    assertThat(await(runs().resume(NAMESPACE, run, 7, false)))
        .isEqualTo(new ResumeResult(false, RunStatus.FAILED));
    assertThat(await(runs().resume(NAMESPACE, run, 2, false)))
        .isEqualTo(new ResumeResult(true, RunStatus.PENDING));
  }

  @Test
  void a_run_that_is_cancelled_after_it_has_failed_before_shows_no_error() {
    RunId run = engine.start();
    engine.report(failed(engine.claimOne(worker).claim(), "no"));
    await(runs().resume(NAMESPACE, run, null, false));

    await(runs().cancel(NAMESPACE, run));

    assertThat(engine.run(run).status()).isEqualTo(RunStatus.CANCELLED);
    assertThat(engine.run(run).error()).isNull();
  }

  @Test
  void a_run_whose_deadline_had_passed_at_its_start_can_be_retried_and_resumed() {
    StartOptions late =
        new TestOptions().withDeadline(Instant.parse("2020-01-01T00:00:00Z")).build();
    StartRequest request =
        new StartRequest(NAMESPACE, "", queue, TYPE, "", payload("\"in\""), null, null, late);
    RunId run = await(runs().start(request)).runId();
    assertThat(await(engine.end(run)).orElseThrow().status()).isEqualTo(RunStatus.TIMED_OUT);
    assertThat(engine.error(run)).endsWith("by its deadline 2020-01-01T00:00:00Z");

    assertThat(await(runs().retry(NAMESPACE, run, null, null)).alreadyRunning()).isFalse();
    assertThat(await(runs().resume(NAMESPACE, run, null, false)).resumed()).isTrue();
    assertThat(engine.run(run).setup().executionTimeoutMs()).isNull();
    assertThat(engine.run(run).deadlineAt()).as("it does not time out again").isNull();
  }
}
