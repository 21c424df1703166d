package dev.kagzi.engine.internal.run;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.sleep;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestReports;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.AttachListener;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A cancel takes effect at once in any status of the run. */
class CancelTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final CancelResult CANCELLED = new CancelResult(true, RunStatus.CANCELLED);

  private final Stored stored = new Stored(database);
  private TestEngine engine;

  @BeforeEach
  void open(TestInfo test) {
    engine = TestEngine.start(database.config(), test.getTestMethod().orElseThrow().getName());
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private CancelResult cancel(RunId run) {
    return await(engine.engine().runs().cancel(NAMESPACE, run));
  }

  @Test
  void a_pending_run_is_cancelled_and_not_claimed() {
    RunId run = engine.start();

    CancelResult result = cancel(run);
    Optional<RunEnd> end = await(engine.end(run));
    RunId next = engine.start();
    Task task = engine.claimOne(engine.register());

    assertThat(result).isEqualTo(CANCELLED);
    assertThat(end.orElseThrow().status()).isEqualTo(RunStatus.CANCELLED);
    assertThat(engine.run(run).finishedAt()).isNotNull();
    assertThat(task.claim().runId()).isEqualTo(next);
  }

  @Test
  void a_running_run_is_cancelled_and_its_worker_is_notified() {
    WorkerId worker = engine.register();
    CompletableFuture<List<Claim>> stopped = new CompletableFuture<>();
    attach(worker, stopped);
    RunId run = engine.start();
    Task task = engine.claimOne(worker);
    engine.report(stepDone(task.claim(), "done", "1"));
    engine.report(TestReports.started(task.claim(), "open", 1, StepKind.FUNCTION, null, 1));

    CancelResult result = cancel(run);
    ReportResult late = engine.report(done(task.claim(), "1"));

    assertThat(result).isEqualTo(CANCELLED);
    assertThat(await(stopped)).containsExactly(task.claim());
    assertThat(late).isEqualTo(new ReportResult.ClaimLost(RunStatus.CANCELLED));
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.CANCELLED);
    assertThat(engine.run(run).workerId()).isNull();
    assertThat(
            stored.text(
                "SELECT string_agg(step_id || ' ' || status || ' ' || final, ', ' ORDER BY step_id)"
                    + " AS value FROM kagzi.step_runs WHERE run_id = '"
                    + run
                    + "'"))
        .isEqualTo("done COMPLETED false, open FAILED true");
  }

  private void attach(WorkerId worker, CompletableFuture<List<Claim>> stopped) {
    CompletableFuture<Boolean> attached = new CompletableFuture<>();
    var unused =
        engine
            .engine()
            .workers()
            .attach(
                NAMESPACE,
                worker,
                new AttachListener() {
                  @Override
                  public void attached() {
                    attached.complete(true);
                  }

                  @Override
                  public void stop(List<Claim> claims, RunStatus status) {
                    assertThat(status).isEqualTo(RunStatus.CANCELLED);
                    stopped.complete(claims);
                  }

                  @Override
                  public void stepEnded(List<Claim> claims) {}

                  @Override
                  public void cancelRequested(List<Claim> claims) {}

                  @Override
                  public void drain() {}

                  @Override
                  public void closed(Refusal why) {}
                });
    await(attached);
  }

  @Test
  void a_sleeping_run_is_cancelled_and_does_not_wake() {
    WorkerId worker = engine.register();
    RunId run = engine.start();
    Task task = engine.claimOne(worker);
    engine.report(sleep(task.claim(), "nap", 1_100));

    CancelResult result = cancel(run);
    var poll = engine.poll(worker, 1);
    RunId next = engine.start();

    assertThat(result).isEqualTo(CANCELLED);
    assertThat(await(poll.tasks()).get(0).claim().runId()).isEqualTo(next);
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.CANCELLED);
    assertThat(
            stored.count(
                "SELECT count(*) AS value FROM kagzi.workflow_runs WHERE available_at IS NOT NULL"
                    + " AND run_id = '"
                    + run
                    + "'"))
        .as("what has a due time is claimed once it is due")
        .isZero();
    assertThat(
            stored.count(
                "SELECT count(*) AS value FROM kagzi.step_runs WHERE status = 'RUNNING'"
                    + " AND run_id = '"
                    + run
                    + "'"))
        .isZero();
  }

  @Test
  void a_run_that_has_ended_keeps_its_status() {
    RunId run = engine.start();
    Task task = engine.claimOne(engine.register());
    engine.report(done(task.claim(), "\"out\""));
    String before = stored.everythingOf(run);
    RunId cancelled = engine.start();
    cancel(cancelled);

    assertThat(cancel(run)).isEqualTo(new CancelResult(false, RunStatus.COMPLETED));
    assertThat(cancel(cancelled)).isEqualTo(CANCELLED);
    assertThat(stored.everythingOf(run)).isEqualTo(before);
  }

  @Test
  void a_run_that_does_not_exist_cannot_be_cancelled() {
    RunId run = engine.start();

    assertNotFound(engine.engine().runs().cancel(NAMESPACE, RunId.next()));
    assertNotFound(engine.engine().runs().cancel("another", run));
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.PENDING);
  }

  private static void assertNotFound(CompletableFuture<?> answer) {
    assertThatThrownBy(() -> await(answer))
        .isInstanceOfSatisfying(
            Refusal.class,
            refusal -> assertThat(refusal.reason()).isEqualTo(Refusal.Reason.NOT_FOUND));
  }
}
