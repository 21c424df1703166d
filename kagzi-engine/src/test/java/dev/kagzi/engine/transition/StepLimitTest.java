package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.sleep;
import static dev.kagzi.engine.TestEngine.stepDone;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestReports;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.Reports;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.WorkerId;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The step limit of a run: reports above it are refused, and a run above it is not claimed. */
class StepLimitTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final int MAX = 3;
  private static final String TOO_MANY = "steps: 4 (expected: at most 3 in one run)";
  private static final ReportResult ACCEPTED = new ReportResult.Accepted(RunStatus.RUNNING);

  private final Stored stored = new Stored(database);
  private TestEngine engine;
  private WorkerId worker;

  @BeforeEach
  void open(TestInfo test) {
    Limits d = Limits.DEFAULT;
    Limits limits =
        new Limits(
            d.payloadBytesWarn(),
            d.payloadBytesMax(),
            d.nameLengthMax(),
            d.externalIdLengthMax(),
            d.stepKeyLengthMax(),
            MAX,
            d.signalsPerRunMax(),
            d.signalBytesPerRunMax(),
            d.labelsMax(),
            d.labelLengthMax(),
            d.textLengthMax());
    engine =
        TestEngine.start(
            database.config(),
            test.getTestMethod().orElseThrow().getName(),
            EngineConfig.defaults().withLimits(limits));
    worker = engine.register();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private Claim startAndClaim() {
    engine.start();
    return engine.claimOne(worker).claim();
  }

  private long steps(RunId run) {
    return stored.count(
        "SELECT count(*) AS value FROM kagzi.step_runs WHERE run_id = '" + run + "'");
  }

  private static void assertTooMany(ReportResult result) {
    assertThat(result)
        .isInstanceOfSatisfying(
            ReportResult.Refused.class,
            refused -> {
              assertThat(refused.refusal().reason()).isEqualTo(Refusal.Reason.INVALID_ARGUMENT);
              assertThat(refused.refusal()).hasMessage(TOO_MANY);
            });
  }

  @Test
  void a_step_above_the_limit_is_refused_and_not_stored() {
    Claim claim = startAndClaim();
    engine.report(stepDone(claim, "a", "1"));
    engine.report(stepDone(claim, "b", "1"));

    List<ReportResult> results =
        engine.report(List.of(stepDone(claim, "c", "1"), stepDone(claim, "d", "1")));
    ReportResult end = engine.report(done(claim, "1"));

    assertThat(results.get(0)).isEqualTo(ACCEPTED);
    assertTooMany(results.get(1));
    assertThat(steps(claim.runId())).isEqualTo(MAX);
    assertThat(end).isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
  }

  @Test
  void a_claim_counts_the_steps_of_earlier_claims() {
    Claim first = startAndClaim();
    engine.report(stepDone(first, "a", "1"));
    engine.report(sleep(first, "nap", 1_000));
    Task again = engine.claimOne(worker);

    ReportResult third = engine.report(stepDone(again.claim(), "b", "1"));
    ReportResult fourth = engine.report(stepDone(again.claim(), "c", "1"));

    assertThat(again.stepsRecorded()).isEqualTo(2);
    assertThat(third).isEqualTo(ACCEPTED);
    assertTooMany(fourth);
    assertThat(steps(first.runId())).isEqualTo(MAX);
  }

  @Test
  void each_step_counts_once_whatever_its_attempts() {
    RetryPolicy quickly = new RetryPolicy(5, 1, 1, 1, 0, List.of());
    Claim claim = startAndClaim();
    for (int attempt = 1; attempt < 4; attempt++) {
      engine.report(stepFailed(claim, "a", attempt, quickly));
    }
    engine.report(stepDone(claim, "a", 4, "1"));
    engine.report(TestReports.started(claim, "b", 1, StepKind.FUNCTION, null, 300));
    engine.report(stepDone(claim, "b", "1"));

    assertThat(engine.report(stepDone(claim, "c", "1"))).isEqualTo(ACCEPTED);
    assertTooMany(engine.report(stepFailed(claim, "d", 1, quickly)));
  }

  @Test
  void a_simple_client_is_refused_a_step_above_the_limit() {
    RunId run = startAndClaim().runId();
    Reports reports = engine.engine().reports();
    for (String step : List.of("a", "b", "c")) {
      await(reports.completeStep(NAMESPACE, begin(run, step), payload("1"), Caller.UNKNOWN));
    }
    StepRef fourth = begin(run, "d");

    assertThatThrownBy(
            () -> await(reports.completeStep(NAMESPACE, fourth, payload("1"), Caller.UNKNOWN)))
        .isInstanceOf(Refusal.class)
        .hasMessage(TOO_MANY);
  }

  private StepRef begin(RunId run, String step) {
    return await(
            engine
                .engine()
                .reports()
                .begin(NAMESPACE, run, step, StepKind.FUNCTION, null, null, 0, Caller.UNKNOWN))
        .ref();
  }

  /** Possible because another server had a higher limit, or because servers count separately. */
  @Test
  void a_run_that_has_more_steps_than_the_limit_fails_instead_of_being_claimed() {
    Claim claim = startAndClaim();
    RunId run = claim.runId();
    database.execute(
        """
        INSERT INTO kagzi.step_runs (run_id, step_id, attempt, epoch, run_attempt, kind, status,
                                     output, created_at)
        SELECT '%s', 'step-' || i, 1, 1, 1, 'FUNCTION', 'COMPLETED', '\\x31', kagzi.clock()
          FROM generate_series(1, 4) i
        """
            .formatted(run));
    var ended = engine.end(run);
    engine.report(new Report.Released(claim, 0, null));

    Poll poll = engine.poll(worker, 1);
    RunEnd end = await(ended).orElseThrow();
    RunId next = engine.start();

    assertThat(end.status()).isEqualTo(RunStatus.FAILED);
    assertThat(end.failure()).isEqualTo(Failure.of(ErrorCode.INVALID_ARGUMENT, TOO_MANY));
    assertThat(await(poll.tasks())).extracting(Task::claim).containsExactly(new Claim(next, 1));
  }
}
