package dev.kagzi.engine;

import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.sleep;
import static dev.kagzi.engine.TestEngine.stepDone;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.engine.value.WorkerId;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The life of a run, from its start to its end. */
class EngineLifeTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private TestEngine engine;

  @BeforeEach
  void open(TestInfo test) {
    engine = TestEngine.start(database.config(), test.getTestMethod().orElseThrow().getName());
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void a_started_run_is_claimed_executed_and_completed() {
    RunId run = engine.start();
    WorkerId worker = engine.register();

    Task task = engine.claimOne(worker);
    ReportResult step = engine.report(stepDone(task.claim(), "charge", "1"));
    ReportResult end = engine.report(done(task.claim(), "\"out\""));

    assertThat(task.claim().runId()).isEqualTo(run);
    assertThat(task.claim().epoch()).isEqualTo(1);
    assertThat(task.input()).isEqualTo(payload("\"in\""));
    assertThat(step).isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
    assertThat(end).isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.COMPLETED);
    assertThat(engine.run(run).output()).isEqualTo(payload("\"out\""));
    assertThat(await(engine.end(run)).orElseThrow().output()).isEqualTo(payload("\"out\""));
  }

  @Test
  void a_start_while_a_poll_waits_is_dispatched_without_a_claim_query() {
    WorkerId worker = engine.register();

    // A claim query of the timer may fall in between, but not ten times in a row.
    for (int tries = 1; ; tries++) {
      engine.settle(worker);
      Poll poll = engine.poll(worker, 10);
      long rounds = engine.engine().metrics().dispatch().claimRounds();
      long handedOver = engine.engine().metrics().dispatch().handedOver();

      RunId run = engine.start();
      List<Task> tasks = await(poll.tasks());

      assertThat(tasks).extracting(t -> t.claim().runId()).containsExactly(run);
      boolean queried = engine.engine().metrics().dispatch().claimRounds() != rounds;
      if (!queried || tries == 10) {
        assertThat(queried).isFalse();
        assertThat(engine.engine().metrics().dispatch().handedOver()).isEqualTo(handedOver + 1);
        return;
      }
      engine.report(done(tasks.getFirst().claim(), "1"));
    }
  }

  @Test
  void a_sleeping_run_wakes_on_time_with_its_steps() {
    RunId run = engine.start();
    WorkerId worker = engine.register();
    Task task = engine.claimOne(worker);
    engine.report(stepDone(task.claim(), "before", "7"));

    ReportResult slept = engine.report(sleep(task.claim(), "nap", 1_200));
    long asleepAt = System.nanoTime();
    Task woken = engine.claimOne(worker);
    long sleptMs = (System.nanoTime() - asleepAt) / 1_000_000;

    assertThat(slept).isInstanceOf(ReportResult.Sleeping.class);
    assertThat(((ReportResult.Sleeping) slept).claimKept()).isFalse();
    assertThat(woken.claim().epoch()).isEqualTo(2);
    assertThat(woken.claim().runId()).isEqualTo(run);
    assertThat(sleptMs).isBetween(1_000L, 1_700L);
    assertThat(woken.steps()).extracting(RecordedStep::stepKey).containsExactly("before", "nap");
    assertThat(woken.steps().get(1).result()).isInstanceOf(RecordedStep.Result.Output.class);
  }

  @Test
  void a_failed_step_is_retried_and_then_final() {
    engine.start();
    WorkerId worker = engine.register();
    Task task = engine.claimOne(worker);
    RetryPolicy twice = new RetryPolicy(2, 10, 1, 10, 0, List.of());

    ReportResult first = engine.report(stepFailed(task.claim(), "charge", 1, twice));
    ReportResult second = engine.report(stepFailed(task.claim(), "charge", 2, twice));
    ReportResult again = engine.report(stepFailed(task.claim(), "charge", 2, twice));

    assertThat(first)
        .isInstanceOfSatisfying(
            ReportResult.RetryScheduled.class,
            retry -> {
              assertThat(retry.claimKept()).isTrue();
              assertThat(retry.nextAttempt()).isEqualTo(2);
              assertThat(retry.delayMs()).isEqualTo(10);
            });
    assertThat(second).isEqualTo(new ReportResult.FinalFailure());
    assertThat(again).isEqualTo(new ReportResult.FinalFailure());
  }

  @Test
  void a_step_that_was_reported_as_started_is_completed_by_the_report_that_ends_the_run() {
    RunId run = engine.start();
    WorkerId worker = engine.register();
    Task task = engine.claimOne(worker);
    engine.report(TestReports.started(task.claim(), "slow", 1, StepKind.FUNCTION, null, 200));

    List<ReportResult> results =
        engine.report(List.of(stepDone(task.claim(), "slow", "1"), done(task.claim(), "2")));

    assertThat(results).hasOnlyElementsOfType(ReportResult.Accepted.class);
    assertThat(
            engine
                .engine()
                .queries()
                .steps(TestEngine.NAMESPACE, run, null, PageSpec.FIRST)
                .items())
        .singleElement()
        .satisfies(step -> assertThat(step.status()).isEqualTo(StepStatus.COMPLETED))
        .satisfies(step -> assertThat(step.output()).isEqualTo(payload("1")));
  }

  /** A repeated call may contain the start of a step after its result. */
  @Test
  void a_started_report_after_the_result_in_one_call_does_not_undo_it() {
    engine.start();
    WorkerId worker = engine.register();
    Task task = engine.claimOne(worker);

    engine.report(
        List.of(
            stepDone(task.claim(), "charge", "7"),
            TestReports.started(task.claim(), "charge", 1, StepKind.FUNCTION, null, 300),
            new Report.Released(task.claim(), 0, null)));

    assertThat(engine.claimOne(worker).steps())
        .extracting(RecordedStep::result)
        .containsExactly(new RecordedStep.Result.Output(payload("7")));
  }

  /** Virtual threads are not preempted: computing code can hold every carrier thread. */
  @Test
  void results_are_written_while_computing_code_holds_every_core_of_the_virtual_threads() {
    engine.start();
    Task task = engine.claimOne(engine.register());
    int cores = Runtime.getRuntime().availableProcessors();
    AtomicInteger computing = new AtomicInteger();
    AtomicBoolean end = new AtomicBoolean();
    for (int i = 0; i < cores; i++) {
      Thread.ofVirtual()
          .start(
              () -> {
                computing.incrementAndGet();
                while (!end.get()) {
                  Thread.onSpinWait();
                }
              });
    }
    try {
      Awaitility.await().until(() -> computing.get() == cores);

      assertThat(engine.report(stepDone(task.claim(), "charge", "1")))
          .isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
    } finally {
      end.set(true);
    }
  }

  @Test
  void a_run_does_not_end_without_a_result_that_was_refused() {
    RunId run = engine.start();
    Task task = engine.claimOne(engine.register());
    String large = "\"" + "x".repeat(3 << 20) + "\"";

    List<ReportResult> results =
        engine.report(List.of(stepDone(task.claim(), "a", large), done(task.claim(), "1")));

    assertThat(results)
        .allSatisfy(result -> assertThat(result).isInstanceOf(ReportResult.Refused.class));
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.RUNNING);
  }
}
