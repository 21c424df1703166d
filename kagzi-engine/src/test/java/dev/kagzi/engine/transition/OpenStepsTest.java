package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.failure;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestReports;
import dev.kagzi.engine.WatchedConnector;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.step.CloseSteps;
import dev.kagzi.engine.run.Caller;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An ended run has no step that is stored as running. */
class OpenStepsTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final String CLOSED = "done COMPLETED, open FAILED cut short: the run ended first";

  private final Stored stored = new Stored(database);
  private WatchedConnector connections;
  private TestEngine engine;
  private Claim claim;

  @BeforeEach
  void open(TestInfo test) {
    connections = new WatchedConnector(() -> Database.connect(database.config()));
    engine =
        TestEngine.start(
            database.config(),
            test.getTestMethod().orElseThrow().getName(),
            EngineConfig.defaults(),
            connections);
    engine.start();
    claim = engine.claimOne(engine.register()).claim();
  }

  @AfterEach
  void close() {
    engine.close();
    database.forgetRuns();
  }

  private Report started(String step) {
    return TestReports.started(claim, step, 1, StepKind.FUNCTION, null, 300);
  }

  private String steps() {
    return stored.text(
        "SELECT string_agg(concat_ws(' ', step_id, status, error ->> 'message'), ', '"
            + " ORDER BY step_id) AS value FROM kagzi.step_runs WHERE run_id = '"
            + claim.runId()
            + "'");
  }

  private long closeStatements() {
    return connections.byLanes().stream()
        .filter(sent -> sent.sql().equals(CloseSteps.END_OPEN_SQL))
        .count();
  }

  @Test
  void a_run_that_fails_closes_its_open_steps() {
    engine.report(List.of(stepDone(claim, "done", "1"), started("open")));

    ReportResult end = engine.report(failed(claim, "no"));

    assertThat(end).isEqualTo(new ReportResult.Accepted(RunStatus.FAILED));
    assertThat(steps()).isEqualTo(CLOSED);
  }

  @Test
  void a_completed_run_closes_open_steps_if_its_worker_reports_them() {
    engine.report(List.of(stepDone(claim, "done", "1"), started("open")));

    ReportResult end = engine.report(new Report.Done(claim, payload("1"), true));

    assertThat(end).isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
    assertThat(steps()).isEqualTo(CLOSED);
    assertThat(engine.run(claim.runId()).output()).isEqualTo(payload("1"));
  }

  /** The last step's result is in the same transaction, before the completion. */
  @Test
  void the_last_step_is_recorded_and_the_other_open_steps_are_closed() {
    engine.report(List.of(started("done"), started("open")));

    List<ReportResult> results =
        engine.report(
            List.of(stepDone(claim, "done", "1"), new Report.Done(claim, payload("1"), true)));

    assertThat(results)
        .containsExactly(
            new ReportResult.Accepted(RunStatus.RUNNING),
            new ReportResult.Accepted(RunStatus.COMPLETED));
    assertThat(steps()).isEqualTo(CLOSED);
  }

  @Test
  void a_run_without_open_steps_costs_no_extra_statement() {
    connections.forget();

    engine.report(List.of(stepDone(claim, "last", "1"), done(claim, "1")));

    assertThat(connections.byLanes()).hasSize(1);
    assertThat(closeStatements()).isZero();
  }

  /** Simple clients report the begin of every step, but not which steps they abandon. */
  @Test
  void a_run_of_a_simple_client_closes_its_open_steps_however_it_ends() {
    RunId run = claim.runId();
    begin(run, "done");
    engine.report(stepDone(claim, "done", "1"));
    begin(run, "open");

    RunStatus completed =
        await(engine.engine().reports().completeRun(NAMESPACE, run, payload("1"), Caller.UNKNOWN));
    String ofCompleted = steps();
    engine.start();
    claim = engine.claimOne(engine.register()).claim();
    begin(claim.runId(), "open");
    RunStatus failed =
        await(
            engine
                .engine()
                .reports()
                .failRun(NAMESPACE, claim.runId(), failure("no"), Caller.UNKNOWN));

    assertThat(completed).isEqualTo(RunStatus.COMPLETED);
    assertThat(ofCompleted).isEqualTo(CLOSED);
    assertThat(failed).isEqualTo(RunStatus.FAILED);
    assertThat(steps()).isEqualTo("open FAILED cut short: the run ended first");
  }

  private void begin(RunId run, String step) {
    await(
        engine
            .engine()
            .reports()
            .begin(NAMESPACE, run, step, StepKind.FUNCTION, null, null, 0, Caller.UNKNOWN));
  }
}
