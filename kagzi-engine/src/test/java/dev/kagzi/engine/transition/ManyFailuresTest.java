package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Runs with thousands of failed branches, or of failed attempts. A statement of a lane must end
 * within ten seconds; statements that compare each failure with each step would need minutes.
 */
class ManyFailuresTest extends EngineFixture {
  private static final int BRANCHES = 6_000;
  private static final int ATTEMPTS = 20_000;
  private static final RetryPolicy THREE = new RetryPolicy(3, 10, 1.0, 10, 0, List.of());
  private static final RetryPolicy MANY = new RetryPolicy(100_000, 10, 1.0, 10, 0, List.of());

  /** Inserts failures one after the other, each of them final. */
  private static void insertFailures(RunId run, int count, String stepKey, String attempt) {
    database.execute(
        """
        INSERT INTO kagzi.step_runs (run_id, step_id, attempt, epoch, run_attempt, kind, status,
                                     final, created_at, started_at, finished_at)
        SELECT '%s', %s, %s, 1, %s, 'FUNCTION', 'FAILED', true, t.began, t.began,
               t.began + interval '1 millisecond'
          FROM generate_series(1, %d) AS i
         CROSS JOIN LATERAL (
               SELECT kagzi.clock() - interval '1 hour' + i * interval '2 milliseconds' AS began)
                 AS t
        """
            .formatted(run, stepKey, attempt, attempt, count));
  }

  private Claim failBranches(RunId run) {
    Claim claim = engine.claimOne(worker).claim();
    insertFailures(run, BRANCHES, "'fan[' || i || ']/book'", "1");
    return claim;
  }

  private long failuresIn(RunId run, int attempt) {
    return stored.count(
        "SELECT count(*) AS value FROM kagzi.step_runs WHERE final AND run_id = '%s' AND run_attempt = %d"
            .formatted(run, attempt));
  }

  @Test
  void a_run_with_thousands_of_failed_branches_is_retried() {
    Claim claim = failBranches(engine.start(THREE));

    assertThat(engine.report(failed(claim, "book failed")))
        .isInstanceOf(ReportResult.RetryScheduled.class);
  }

  @Test
  void a_run_that_compensated_thousands_of_failed_branches_fails_and_a_resume_keeps_them() {
    Claim claim = failBranches(engine.start(THREE));
    RunId run = claim.runId();
    engine.report(stepDone(claim, "undo", "1"));

    assertThat(engine.report(failed(claim, "a bug behind the undo")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.FAILED));
    assertThat(await(engine.engine().runs().resume(NAMESPACE, run, null, false)).resumed())
        .isTrue();

    assertThat(failuresIn(run, 2)).isEqualTo(BRANCHES);
  }

  @Test
  void a_resume_executes_thousands_of_failed_branches_again() {
    Claim claim = failBranches(engine.start());
    RunId run = claim.runId();
    engine.report(failed(claim, "book failed"));

    assertThat(await(engine.engine().runs().resume(NAMESPACE, run, null, false)).resumed())
        .isTrue();

    assertThat(failuresIn(run, 1)).isEqualTo(BRANCHES);
  }

  @Test
  void a_run_with_thousands_of_failed_attempts_is_retried() {
    RunId run = engine.start(MANY);
    Claim claim = engine.claimOne(worker).claim();
    insertFailures(run, ATTEMPTS, "'book'", "i");
    database.execute(
        "UPDATE kagzi.workflow_runs SET attempts = %d WHERE run_id = '%s'"
            .formatted(ATTEMPTS, run));

    assertThat(engine.report(failed(claim, "book failed")))
        .isInstanceOf(ReportResult.RetryScheduled.class);
  }
}
