package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.FamilyTest;
import dev.kagzi.engine.Holds;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestOptions;
import dev.kagzi.engine.TestReports;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.step.ReadSteps;
import dev.kagzi.engine.internal.step.StepRow;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.ChildAccepted;
import dev.kagzi.engine.run.ReportResult.ClaimLost;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.worker.AttachListener;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Child runs: starts, cancellation with the parent, and results. */
class ChildrenTest extends FamilyTest {
  private static Report.ChildStarted child(Claim claim, String step, boolean detached) {
    return child(claim, step, 1, detached);
  }

  private static Report.ChildStarted child(
      Claim claim, String step, int attempt, boolean detached) {
    StartRequest start =
        new StartRequest(NAMESPACE, "", "", TYPE, "", payload("1"), null, null, StartOptions.NONE);
    return new Report.ChildStarted(claim, step, attempt, start, detached);
  }

  private RunId startChild(Claim parent, String step) {
    return ((ChildAccepted) engine.report(child(parent, step, false))).child();
  }

  private long children(RunId parent) {
    return stored.count(
        "SELECT count(*) AS value FROM kagzi.workflow_runs WHERE parent_run_id = '" + parent + "'");
  }

  @Test
  void a_repeated_start_starts_one_child() {
    RunId parent = engine.start();
    Claim claim = engine.claimOne(worker).claim();

    ReportResult first = engine.report(child(claim, "a", false));
    ReportResult again = engine.report(child(claim, "a", false));

    assertThat(again).isEqualTo(first).isInstanceOf(ChildAccepted.class);
    assertThat(children(parent)).isEqualTo(1);
    assertThat(engine.run(((ChildAccepted) first).child()).status()).isEqualTo(RunStatus.PENDING);
  }

  @Test
  void a_later_claim_finds_the_child_and_starts_no_other() {
    RunId parent = engine.start();
    Claim claim = engine.claimOne(worker).claim();
    RunId child = startChild(claim, "a");
    engine.report(new Report.Released(claim, 0, null));
    Task again = claimParent(parent);

    assertThat(again.steps())
        .containsExactly(
            new RecordedStep(
                "a",
                1,
                StepKind.CHILD_WORKFLOW,
                new RecordedStep.Result.Open(),
                child,
                null,
                null,
                null));
    assertThat(engine.report(child(again.claim(), "a", false))).isEqualTo(new ChildAccepted(child));
    assertThat(children(parent)).isEqualTo(1);
  }

  /** The child has the same type and queue, so it may be claimed first. */
  private Task claimParent(RunId parent) {
    while (true) {
      Task task = engine.claimOne(worker);
      if (task.claim().runId().equals(parent)) {
        return task;
      }
    }
  }

  @Test
  void a_lost_claim_starts_no_child() {
    RunId parent = engine.start();
    Claim claim = engine.claimOne(worker).claim();
    await(engine.engine().runs().cancel(NAMESPACE, parent));

    assertThat(engine.report(child(claim, "a", false)))
        .isEqualTo(new ClaimLost(RunStatus.CANCELLED));
    assertThat(children(parent)).isZero();
  }

  /** The start holds the parent's lock before its commit; the cancel waits for it. */
  @Test
  void a_cancel_reaches_a_child_that_is_being_started() throws Exception {
    RunId parent = engine.start();
    Claim claim = engine.claimOne(worker).claim();
    try (TestEngine other = start(new Holds(database.config()))) {
      CompletableFuture<?> cancelled;
      CompletableFuture<List<ReportResult>> started;
      try (Holds.Hold commit = holds.commitAfter("INSERT INTO kagzi.workflow_runs")) {
        started = engine.engine().reports().accept(NAMESPACE, List.of(child(claim, "a", false)));
        commit.awaitReached();
        cancelled = other.engine().runs().cancel(NAMESPACE, parent);
        Awaitility.await().until(stored::somebodyWaitsForALock);
      }
      await(cancelled);
      RunId child = ((ChildAccepted) await(started).get(0)).child();

      Awaitility.await().until(() -> engine.run(child).status() == RunStatus.CANCELLED);
    }
  }

  @Test
  void a_cancel_and_a_termination_reach_all_children_except_detached_ones() {
    RunId cancelled = engine.start();
    Claim one = engine.claimOne(worker).claim();
    RunId child = startChild(one, "a");
    RunId alone = ((ChildAccepted) engine.report(child(one, "b", true))).child();
    await(engine.engine().runs().cancel(NAMESPACE, cancelled));
    Awaitility.await().until(() -> engine.run(child).status() == RunStatus.CANCELLED);
    assertThat(engine.run(alone).status()).isEqualTo(RunStatus.PENDING);

    RunId terminated = engine.start();
    Task two = claimParent(terminated);
    RunId other = startChild(two.claim(), "a");
    await(engine.engine().runs().terminate(NAMESPACE, terminated, "enough"));

    Awaitility.await().until(() -> engine.run(other).status() == RunStatus.FAILED);
    assertThat(engine.run(other).error())
        .isNotNull()
        .extracting(Failure::message)
        .isEqualTo("terminated: enough");
  }

  @Test
  void a_cancel_whose_notification_was_lost_reaches_the_children_by_a_chore() {
    RunId parent = engine.start();
    Claim claim = engine.claimOne(worker).claim();
    RunId child = startChild(claim, "a");
    database.execute(
        "INSERT INTO kagzi.run_messages (to_run, step_id, what, created_at) VALUES ('"
            + child
            + "', '', 'CANCEL', kagzi.clock() - interval '3 seconds')");

    Awaitility.await().until(() -> engine.run(child).status() == RunStatus.CANCELLED);
    assertThat(engine.run(parent).status()).isEqualTo(RunStatus.RUNNING);
  }

  @Test
  void the_result_of_an_earlier_attempts_child_is_ignored() {
    RunId parent = engine.start();
    Claim claim = engine.claimOne(worker).claim();
    RunId first = startChild(claim, "a");
    engine.report(TestReports.awaited(claim, List.of("a"), true, null));
    await(engine.engine().runs().terminate(NAMESPACE, first, ""));
    Claim woken = claimParent(parent).claim();
    engine.report(failed(woken, "gave up"));
    await(engine.engine().runs().resume(NAMESPACE, parent, null, false));
    Claim again = claimParent(parent).claim();
    ReportResult second = engine.report(child(again, "a", 2, false));

    await(engine.engine().runs().resume(NAMESPACE, first, null, true));
    engine.report(done(claimParent(first).claim(), "\"old\""));
    Awaitility.await()
        .until(
            () ->
                stored.count(
                        "SELECT count(*) AS value FROM kagzi.run_messages WHERE to_run = '"
                            + parent
                            + "'")
                    == 0);

    assertThat(second).isInstanceOf(ChildAccepted.class).isNotEqualTo(new ChildAccepted(first));
    assertThat(engine.report(new Report.Awaited(again, List.of("a"), true, null, true)))
        .isEqualTo(new ReportResult.AwaitedSteps(List.of(), true));
  }

  @Test
  void a_resume_posts_only_results_of_children_whose_steps_it_opens_again() throws Exception {
    RunId parent = engine.start();
    Claim claim = engine.claimOne(worker).claim();
    startChild(claim, "early");
    engine.report(done(engine.claimOne(worker).claim(), "1"));
    engine.report(new Report.Awaited(claim, List.of("early"), true, null, true));
    startChild(claim, "late");
    Claim late = engine.claimOne(worker).claim();
    engine.report(failed(claim, "no"));
    engine.report(done(late, "2"));
    String messages = " FROM kagzi.run_messages WHERE to_run = '" + parent + "'";
    Awaitility.await().until(() -> stored.count("SELECT count(*) AS value" + messages) == 0);

    try (Holds.Hold delivery = holds.statement("DELETE FROM kagzi.run_messages")) {
      await(engine.engine().runs().resume(NAMESPACE, parent, null, false));
      delivery.awaitReached();
      assertThat(stored.text("SELECT string_agg(step_id, ' ') AS value" + messages))
          .isEqualTo("late");
    }

    Awaitility.await().until(() -> stored.count("SELECT count(*) AS value" + messages) == 0);
    assertThat(claimParent(parent).steps())
        .extracting(RecordedStep::result)
        .containsExactlyInAnyOrder(
            new RecordedStep.Result.Output(payload("1")),
            new RecordedStep.Result.Output(payload("2")));
  }

  @Test
  void a_wait_with_keep_claim_returns_the_ended_steps_and_keeps_the_claim() {
    engine.start();
    Claim claim = engine.claimOne(worker).claim();
    RunId child = startChild(claim, "a");
    Report ask = new Report.Awaited(claim, List.of("a"), false, null, true);
    assertThat(engine.report(ask)).isEqualTo(new ReportResult.AwaitedSteps(List.of(), true));

    Claim its = engine.claimOne(worker).claim();
    assertThat(its.runId()).isEqualTo(child);
    engine.report(done(its, "7"));

    assertThat(engine.report(ask))
        .isInstanceOfSatisfying(
            ReportResult.AwaitedSteps.class,
            came -> {
              assertThat(came.claimKept()).isTrue();
              assertThat(came.steps())
                  .extracting(RecordedStep::result)
                  .containsExactly(new RecordedStep.Result.Output(payload("7")));
            });
  }

  @Test
  void results_of_many_children_are_read_and_returned_in_parts() {
    engine.start();
    Claim claim = engine.claimOne(worker).claim();
    List<String> open = new ArrayList<>(List.of("c1", "c2", "c3", "c4", "c5", "c6", "c7"));
    database.execute(
        """
        INSERT INTO kagzi.step_runs (run_id, step_id, attempt, epoch, run_attempt, kind, status,
                                     output, created_at, finished_at)
        SELECT '%s', 'c' || i, 1, 1, 1, 'CHILD_WORKFLOW', 'COMPLETED',
               decode(repeat('78', 600 * 1000), 'hex'), kagzi.clock(), kagzi.clock()
          FROM generate_series(1, 7) i
        """
            .formatted(claim.runId()));
    Map<StepRow.Key, Boolean> wanted = new LinkedHashMap<>();
    open.forEach(step -> wanted.put(new StepRow.Key(claim.runId(), step), !step.equals("c1")));

    ReadSteps.Awaited read = database.run(session -> ReadSteps.awaited(session, wanted, 1_000_000));
    List<Integer> parts = new ArrayList<>();
    while (!open.isEmpty()) {
      ReportResult.AwaitedSteps came =
          (ReportResult.AwaitedSteps) engine.report(TestReports.awaited(claim, open, true, null));
      assertThat(came.claimKept()).isTrue();
      parts.add(came.steps().size());
      came.steps().forEach(step -> assertThat(open.remove(step.stepKey())).isTrue());
    }

    assertThat(read.last()).hasSize(7);
    assertThat(read.withheld())
        .extracting(StepRow.Key::stepKey)
        .containsExactlyInAnyOrder("c1", "c4", "c5", "c6", "c7");
    assertThat(parts).containsExactly(3, 3, 1);
  }

  /** The step started the child, and nobody awaited it: that is not a failure. */
  @Test
  void the_step_of_a_child_that_is_not_awaited_completes_with_its_parent() {
    RunId parent = engine.start();
    Claim claim = engine.claimOne(worker).claim();
    RunId child = startChild(claim, "a");
    engine.report(started(claim));

    engine.report(new Report.Done(claim, payload("1"), true));

    assertThat(
            stored.text(
                "SELECT string_agg(concat_ws(' ', step_id, status, final, error ->> 'message'), ', '"
                    + " ORDER BY step_id) AS value FROM kagzi.step_runs WHERE run_id = '"
                    + parent
                    + "'"))
        .isEqualTo("a COMPLETED f, x FAILED t cut short: the run ended first");
    assertThat(engine.run(child).status()).isEqualTo(RunStatus.PENDING);
  }

  /** The park is written again after its connection broke, and the child has ended in between. */
  @Test
  void a_repeated_park_loses_no_message() {
    RunId parent = engine.start();
    Claim claim = engine.claimOne(worker).claim();
    RunId child = startChild(claim, "a");
    Report park = TestReports.awaited(claim, List.of("a"), true, null);
    engine.report(park);
    database.execute(
        "INSERT INTO kagzi.run_messages (to_run, step_id, what, data, metadata, created_at)"
            + " VALUES ('%s', 'a', 'COMPLETED %s', '1', '{}', kagzi.clock())"
                .formatted(parent, child));

    engine.report(park);

    assertThat(claimParent(parent).claim()).isEqualTo(new Claim(parent, 2));
  }

  @Test
  void a_child_that_ends_on_another_server_wakes_the_worker_of_its_parent() throws Exception {
    engine.start();
    Claim claim = engine.claimOne(worker).claim();
    startChild(claim, "a");
    Claim child = engine.claimOne(worker).claim();
    BlockingQueue<List<Claim>> woken = new LinkedBlockingQueue<>();
    attach(woken);

    try (TestEngine other = start(new Holds(database.config()))) {
      other.report(done(child, "1"));

      assertThat(woken.poll(10, TimeUnit.SECONDS)).containsExactly(claim);
    }
  }

  private void attach(BlockingQueue<List<Claim>> woken) {
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
                  public void stop(List<Claim> claims, RunStatus status) {}

                  @Override
                  public void stepEnded(List<Claim> claims) {
                    woken.add(claims);
                  }

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
  void a_refused_result_refuses_only_later_reports_of_its_own_branch() {
    RunId run = engine.start();
    Claim claim = engine.claimOne(worker).claim();
    Report large =
        TestReports.done(
            claim,
            "pack[0]/big",
            1,
            StepKind.FUNCTION,
            null,
            new Payload(new byte[3 << 20], Map.of()),
            1);

    List<ReportResult> results =
        engine.report(
            List.of(
                large,
                stepDone(claim, "pack[1]/small", "1"),
                stepDone(claim, "pack[0]/next", "1"),
                done(claim, "1")));

    assertThat(results.get(0)).isInstanceOf(ReportResult.Refused.class);
    assertThat(results.get(1)).isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
    assertThat(results.get(2)).isInstanceOf(ReportResult.Refused.class);
    assertThat(results.get(3)).isInstanceOf(ReportResult.Refused.class);
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.RUNNING);
  }

  @Test
  void a_parent_that_does_not_exist_is_refused() {
    StartOptions options =
        new TestOptions().withParent(new StartOptions.Parent(RunId.next(), "spawn")).build();
    StartRequest request =
        new StartRequest(NAMESPACE, "", queue, TYPE, "", Payload.EMPTY, null, null, options);

    assertThatThrownBy(() -> await(engine.engine().runs().start(request)))
        .isInstanceOf(Refusal.class)
        .hasMessageContaining("parent_run_id");
  }

  /** The parent's worker is attached to one server, the child ends on another. */
  @Test
  void the_end_of_a_child_locks_only_the_child() throws Exception {
    RunId parent = engine.start();
    Claim claim = engine.claimOne(worker).claim();
    startChild(claim, "a");
    Claim child = engine.claimOne(worker).claim();
    try (TestEngine other = start(new Holds(database.config()));
        Holds.Hold hold = holds.commitAfter(LOCK)) {
      var step = engine.engine().reports().accept(NAMESPACE, List.of(started(claim)));
      hold.awaitReached();

      assertThat(other.report(done(child, "1")))
          .isEqualTo(new ReportResult.Accepted(RunStatus.COMPLETED));
      assertThat(step).isNotDone();
    }
    Awaitility.await()
        .until(
            () ->
                engine.report(new Report.Awaited(claim, List.of("a"), true, null, true))
                        instanceof ReportResult.AwaitedSteps came
                    && came.steps().size() == 1);
    assertThat(engine.run(parent).status()).isEqualTo(RunStatus.RUNNING);
  }

  private static Report started(Claim claim) {
    return TestReports.started(claim, "x", 1, StepKind.FUNCTION, null, 1);
  }
}
