package dev.kagzi.engine.query;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.failure;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.sleep;
import static dev.kagzi.engine.TestEngine.stepDone;
import static dev.kagzi.engine.TestEngine.stepFailed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestOptions;
import dev.kagzi.engine.TestReports;
import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.query.WaitCause.Code;
import dev.kagzi.engine.query.WaitCause.RefKind;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
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
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Why a run that was started does not continue, and what it is doing. */
class ExplainRunTest extends ExplainFixture {
  private static final RetryPolicy HOURLY =
      new RetryPolicy(5, 3_600_000, 1.0, 3_600_000, 0, List.of());

  private static final QueryRules RULES =
      new QueryRules(new Health.Rules(6_000, 10_000), 60_000, 6_000, 10, RetryPolicy.DEFAULT);

  private WorkerId worker;

  @BeforeEach
  void register() {
    worker = registerWithSlots(10);
  }

  private Claim claim() {
    engine.start();
    return engine.claimOne(worker).claim();
  }

  private static Report child(Claim claim, String step) {
    StartRequest start =
        new StartRequest(
            NAMESPACE, "", "elsewhere", TYPE, "", payload("1"), null, null, StartOptions.NONE);
    return new Report.ChildStarted(claim, step, 1, start, false);
  }

  @Test
  void an_ended_run_names_its_status_and_its_error() {
    Claim claim = claim();
    engine.report(failed(claim, "no money"));

    WaitCause cause = first(claim.runId(), Code.ENDED);

    assertThat(cause.text())
        .startsWith("The run ended as FAILED at 20")
        .contains(": Boom: no money.")
        .contains("`kagzi workflow resume " + claim.runId() + "`");
    assertThat(explain(claim.runId()).status()).isEqualTo(RunStatus.FAILED);
  }

  @Test
  void a_completed_run_needs_nothing() {
    Claim claim = claim();
    engine.report(done(claim, "1"));

    assertThat(first(claim.runId(), Code.ENDED).text()).startsWith("The run ended as COMPLETED at");
  }

  @Test
  void a_run_that_does_not_exist_is_refused() {
    RunId unknown = RunId.next();

    assertThatThrownBy(() -> explain(unknown))
        .isInstanceOf(Refusal.class)
        .hasMessage("run not found in namespace default: " + unknown);
    RunId other = engine.start();
    assertThatThrownBy(() -> engine.engine().queries().explain("another", other))
        .hasMessage("run not found in namespace another: " + other);
    assertThatThrownBy(() -> engine.engine().queries().byExternalId("another", "case-11"))
        .hasMessage("no run with external id case-11 in namespace another");
  }

  @Test
  void a_start_is_delayed() {
    RunId run = engine.start();
    // Runs of schedules with a jitter start like this.
    database.execute(
        "UPDATE kagzi.workflow_runs SET available_at = kagzi.clock() + interval '3 hours'"
            + " WHERE run_id = '"
            + run
            + "'");

    assertThat(first(run, Code.START_DELAYED).text())
        .startsWith("The run does not start before 20")
        .containsPattern("\\(in (3 h|2 h 59 min)\\)");
  }

  @Test
  void a_sleep_names_its_end() {
    Claim claim = claim();
    engine.report(sleep(claim, "cool-off", 3_600_000));

    WaitCause cause = first(claim.runId(), Code.SLEEPING);

    assertThat(cause.text())
        .startsWith("Sleep cool-off ends at 20")
        .containsPattern("\\(in (1 h|59 min 5\\d s)\\)");
    assertThat(cause.refs())
        .containsExactly(ref(RefKind.STEP, new StepRef(claim.runId(), "cool-off", 1, 1)));
    assertThat(explain(claim.runId()).status()).isEqualTo(RunStatus.SLEEPING);
  }

  @Test
  void a_retry_of_a_step_names_its_number_time_and_error() {
    Claim claim = claim();
    engine.report(stepFailed(claim, "charge", 1, HOURLY));

    WaitCause cause = first(claim.runId(), Code.STEP_RETRY);

    assertThat(cause.text())
        .startsWith("Retry 1 of 4 of step charge is at 20")
        .containsPattern("\\(in (1 h|59 min 5\\d s)\\)")
        .endsWith(", after attempt 1 failed: Boom: boom.");
    assertThat(cause.refs())
        .containsExactly(ref(RefKind.STEP, new StepRef(claim.runId(), "charge", 1, 1)));
    assertThat(cause.at()).isAfter(Instant.EPOCH);
  }

  @Test
  void a_retry_without_a_policy_counts_by_that_of_the_server() {
    Claim claim = claim();
    Failure later = new Failure(ErrorCode.UNAVAILABLE, "later", false, 60_000, "", "", Map.of());
    engine.report(TestReports.failed(claim, "charge", 1, null, later, null, true, 1));

    assertThat(explain(claim.runId()).causes().getFirst().text())
        .startsWith("Retry 1 of 2 of step charge is at")
        .endsWith(", after attempt 1 failed: later.");
  }

  @Test
  void a_retry_of_the_whole_run_names_its_number_time_and_error() {
    RunId run = engine.start(HOURLY);
    engine.report(failed(engine.claimOne(worker).claim(), "no money"));

    assertThat(first(run, Code.RUN_RETRY).text())
        .startsWith("Retry 1 of 4 of the whole run is at 20")
        .endsWith(", after it failed with Boom: no money.");
  }

  @Test
  void children_are_named_with_their_states() {
    Claim claim = claim();
    engine.report(child(claim, "pack"));
    engine.report(child(claim, "label"));
    engine.report(TestReports.awaited(claim, List.of("pack", "label"), true, null));

    WaitCause cause = first(claim.runId(), Code.CHILDREN);

    assertThat(cause.text())
        .startsWith("The run waits for 2 child runs: ")
        .contains("(step pack, type order, PENDING)")
        .contains("(step label, type order, PENDING)")
        .containsPattern("Why child run \\S+ does not end: No worker is online on queue elsewhere;")
        .endsWith("`kagzi workflow why " + cause.refs().getFirst().id() + "` has all causes.");
    assertThat(cause.refs()).hasSize(2).allMatch(ref -> ref.kind() == RefKind.RUN);
    assertThat(cause.at()).isNull();
    assertThat(codes(claim.runId())).containsExactly(Code.CHILDREN);
  }

  @Test
  void a_child_that_waits_for_its_own_child_is_explained_one_level_deep() {
    Claim claim = claim();
    engine.report(child(claim, "pack"));
    engine.report(TestReports.awaited(claim, List.of("pack"), true, null));
    TestEngine elsewhere = engine.onQueue("elsewhere");
    Claim pack = elsewhere.claimOne(elsewhere.register()).claim();
    engine.report(child(pack, "fold"));
    engine.report(TestReports.awaited(pack, List.of("fold"), true, null));

    assertThat(first(claim.runId(), Code.CHILDREN).text())
        .containsPattern(
            "Why that run does not end: The run waits for child run (\\S+) \\(step fold, type order, PENDING\\)\\."
                + " `kagzi workflow why \\1` explains that run\\.")
        .endsWith("`kagzi workflow why " + pack.runId() + "` has all causes.");
  }

  @Test
  void a_wait_for_a_signal_names_it_and_what_has_arrived_instead() {
    Claim claim = claim();
    SignalRequest other = new SignalRequest("other", TestEngine.payload("1"), "s");
    TestEngine.await(engine.engine().runs().signal(TestEngine.NAMESPACE, claim.runId(), other));
    engine.report(new Report.Receive(claim, "approval", "approval", 3_600_000L, false));

    WaitCause cause = first(claim.runId(), Code.SIGNAL);

    assertThat(cause.text())
        .startsWith("Step approval has waited for signal approval since")
        .contains("It stops waiting at 20", "Signals of other names have arrived: other.")
        .endsWith("approval --input JSON` sends one.");
    assertThat(cause.refs()).singleElement().matches(ref -> ref.kind() == RefKind.STEP);
    assertThat(codes(claim.runId())).containsExactly(Code.SIGNAL);
  }

  @Test
  void branches_are_named_with_what_each_waits_for() {
    Claim claim = claim();
    engine.report(child(claim, "do[0]/pack"));
    engine.report(new Report.Sleep(claim, "do[1]/nap", 3_600_000L, null, true));
    engine.report(TestReports.awaited(claim, List.of("do[0]/pack"), false, 3_600_000L));

    Explanation explained = explain(claim.runId());

    assertThat(explained.causes())
        .extracting(WaitCause::code)
        .containsExactly(Code.BRANCHES, Code.CHILDREN, Code.SLEEPING);
    assertThat(explained.causes().getFirst().text())
        .startsWith("2 branches wait, each for its own cause: do[0], do[1].");
    assertThat(explained.causes().getLast().text()).startsWith("Sleep do[1]/nap ends at");
  }

  @Test
  void a_blocked_run_names_what_differs_and_the_next_try() {
    Claim claim = claim();
    engine.report(new Report.Released(claim, 3_600_000, failure("step pay is a SLEEP")));

    assertThat(first(claim.runId(), Code.BLOCKED).text())
        .contains("step pay is a SLEEP. The next try is at 20")
        .containsPattern("\\(in (1 h|59 min 5\\d s)\\)");
    assertThat(codes(claim.runId())).containsExactly(Code.BLOCKED);
  }

  @Test
  void a_transaction_with_an_unknown_outcome_is_not_called_changed_code() {
    Claim claim = claim();
    Failure unresolved =
        new Failure(
            ErrorCode.PRECONDITION_FAILED,
            "step debit: kagzi_steps: relation does not exist",
            false,
            0,
            "",
            "",
            Map.of("code", "TRANSACTION_UNRESOLVED"));
    engine.report(new Report.Released(claim, 3_600_000, unresolved));

    assertThat(first(claim.runId(), Code.BLOCKED).text())
        .startsWith("Its worker cannot find out whether a transactional step was committed: step")
        .endsWith("it stays blocked until table kagzi_steps of that database can be read.");
  }

  /** The question at the end of the message helps most, and it follows values that may be long. */
  @Test
  void a_long_message_of_what_differs_is_not_cut_early() {
    Claim claim = claim();
    String difference = "is " + "x".repeat(500) + ": was the type changed while runs were open?";
    engine.report(new Report.Released(claim, 3_600_000, failure(difference)));

    assertThat(first(claim.runId(), Code.BLOCKED).text()).contains("while runs were open?");
  }

  @Test
  void a_released_run_names_the_next_try() {
    Claim claim = claim();
    engine.report(new Report.Released(claim, 3_600_000, null));

    assertThat(first(claim.runId(), Code.RELEASED).text()).contains("handed out again at 20");
  }

  /** Returns the worker that lost the run. */
  private WorkerId crash(RunId run) {
    WorkerId mortal = registerWithSlots(1);
    assertThat(engine.claimOne(mortal).claim().runId()).isEqualTo(run);
    await(engine.engine().workers().forceOffline(NAMESPACE, mortal, "test", null));
    // The call does not wait until the claims are released.
    Awaitility.await().until(() -> engine.run(run).status() == RunStatus.PENDING);
    return mortal;
  }

  @Test
  void a_lost_worker_comes_before_the_advice_to_start_another() {
    await(engine.engine().workers().deregister(NAMESPACE, worker, false));
    RunId run = engine.start();
    WorkerId lost = crash(run);

    WaitCause cause = first(run, Code.CRASHED_BEFORE);

    assertThat(cause.text())
        .startsWith("The last worker that ran it was lost (crashed or went silent) before it")
        .contains("Read the log of worker " + lost + " (host-7, pid 77) before you start another");
    assertThat(cause.refs()).containsExactly(ref(RefKind.QUEUE, queue), ref(RefKind.WORKER, lost));
    assertThat(codes(run)).containsExactly(Code.CRASHED_BEFORE, Code.NO_WORKER);
  }

  @Test
  void a_lost_worker_is_forgotten_when_a_step_is_recorded() {
    RunId run = engine.start();
    crash(run);
    Claim next = engine.claimOne(worker).claim();
    engine.report(stepDone(next, "charge", "1"));
    engine.report(new Report.Released(next, 0, null));

    assertThat(codes(run)).containsExactly(Code.DUE);
  }

  @Test
  void a_run_that_executes_again_names_the_crashes_before_and_the_interrupted_step() {
    RunId run = engine.start();
    WorkerId mortal = registerWithSlots(1);
    engine.report(begun(engine.claimOne(mortal).claim(), 1, HOURLY));
    await(engine.engine().workers().forceOffline(NAMESPACE, mortal, "test", null));
    Awaitility.await().until(() -> engine.run(run).status() == RunStatus.PENDING);

    assertThat(first(run, Code.CRASHED_BEFORE).text())
        .contains("before it recorded a further step; interrupted: step import; after");
    Claim next = engine.claimOne(worker).claim();
    assertThat(first(run, Code.CRASHED_BEFORE).text())
        .startsWith("The last worker that ran it was lost")
        .contains("; interrupted: step import; after more than 10 in a row it fails.")
        .contains("Read the log of the workers before");
    assertThat(codes(run)).containsExactly(Code.CRASHED_BEFORE, Code.CLAIMED_SILENT);
    engine.report(begun(next, 1, HOURLY));
    assertThat(first(run, Code.CRASHED_BEFORE).text()).doesNotContain("interrupted");
    assertThat(codes(run)).containsExactly(Code.CRASHED_BEFORE, Code.RUNNING_STEP);
  }

  @Test
  void repeated_crashes_delay_the_run() {
    RunId run = engine.start();
    crash(run);
    WorkerId last = crash(run);
    // The delay is about a second, too short for a test that reads it.
    database.execute(
        "UPDATE kagzi.workflow_runs SET available_at = available_at + interval '1 hour'"
            + " WHERE run_id = '"
            + run
            + "'");

    assertThat(first(run, Code.CRASH_BACKOFF).text())
        .startsWith("2 workers in a row crashed or went silent")
        .contains("It fails when more than 10 workers in a row are lost.")
        .contains("Read the log of worker " + last + " (host-7, pid 77)");
  }

  @Test
  void a_running_step_names_worker_attempt_progress_and_timeout() {
    Claim claim = claim();
    engine.report(
        new Report.StepStarted(
            claim,
            "import",
            1,
            StepKind.FUNCTION,
            null,
            120_000_000,
            600_000,
            HOURLY,
            "",
            payload("{\"rows\": 40}")));

    WaitCause cause = first(claim.runId(), Code.RUNNING_STEP);

    assertThat(cause.text())
        .startsWith("Step import, attempt 1 of 5, runs on worker " + worker + " (host-7, pid 77)")
        .containsPattern("since \\S+ \\(for 2 min( \\d+ s)?\\)")
        .contains("; its progress is {\"rows\": 40}")
        .containsPattern("; its timeout is at \\S+ \\(in (8 min|7 min 5\\d s)\\)\\.");
    assertThat(cause.refs())
        .containsExactly(
            ref(RefKind.WORKER, worker),
            ref(RefKind.STEP, new StepRef(claim.runId(), "import", 1, 1)));
  }

  @Test
  void a_running_step_names_how_its_attempt_before_ended() {
    Claim claim = claim();
    RetryPolicy atOnce = new RetryPolicy(3, 0, 1.0, 0, 0, List.of());
    engine.report(begun(claim, 1, atOnce));
    engine.report(stepFailed(claim, "import", 1, atOnce));
    engine.report(begun(claim, 2, atOnce));

    assertThat(first(claim.runId(), Code.RUNNING_STEP).text())
        .startsWith("Step import, attempt 2 of 3, runs on worker " + worker)
        .containsPattern(" Attempt 1 failed after \\S+ \\S+.*: Boom: boom\\.")
        .endsWith(" If it hangs, `jcmd 77 Thread.dump_to_file FILE` on host-7 shows where.");
  }

  private static Report begun(Claim claim, int attempt, RetryPolicy policy) {
    return new Report.StepStarted(
        claim, "import", attempt, StepKind.FUNCTION, null, 120_000_000, 600_000, policy, "", null);
  }

  @Test
  void a_run_between_steps_names_its_last_step() {
    Claim claim = claim();
    engine.report(stepDone(claim, "charge", "1"));

    assertThat(first(claim.runId(), Code.RUNNING_CODE).text())
        .startsWith("The run is on worker " + worker)
        .contains("The last record is step charge (COMPLETED) at 20");
  }

  @Test
  void a_worker_that_lists_the_run_executes_code_before_the_first_step() {
    Claim claim = claim();
    clock.ahead(Duration.ofSeconds(4));
    heartbeat(worker, claim);

    assertThat(first(claim.runId(), Code.RUNNING_CODE).text())
        .contains("No step of it is recorded yet");
  }

  @Test
  void a_run_that_was_handed_out_and_of_which_nothing_was_received() {
    Claim claim = claim();

    WaitCause cause = first(claim.runId(), Code.CLAIMED_SILENT);

    assertThat(cause.text())
        .startsWith("The run was handed to worker " + worker)
        .contains("nothing about it has been received since");
    assertThat(codes(claim.runId())).containsExactly(Code.CLAIMED_SILENT);
  }

  @Test
  void a_draining_worker_is_named() {
    Claim claim = claim();
    engine.report(stepDone(claim, "charge", "1"));
    await(engine.engine().workers().drain(NAMESPACE, worker));

    assertThat(codes(claim.runId())).containsExactly(Code.RUNNING_CODE, Code.WORKER_DRAINING);
  }

  @Test
  void a_silent_worker_is_about_to_lose_the_run() {
    Claim claim = claim();
    clock.ahead(Duration.ofSeconds(4));
    heartbeat(worker, claim);
    clock.ahead(Duration.ofSeconds(12));

    WaitCause cause = first(claim.runId(), Code.LEASE_ENDING);

    assertThat(cause.text())
        .containsPattern("has sent no heartbeat for [78] s; after 10 s it is declared offline\\.")
        .contains("Its lease of the run ends at 20");
    assertThat(cause.refs()).containsExactly(ref(RefKind.WORKER, worker));
    assertThat(codes(claim.runId())).containsExactly(Code.LEASE_ENDING, Code.RUNNING_CODE);
  }

  @Test
  void a_run_whose_lease_has_ended_waits_for_a_worker_that_takes_it_over() {
    Claim claim = claim();
    clock.ahead(Duration.ofSeconds(9));

    assertThat(codes(claim.runId()))
        .containsExactly(Code.LEASE_ENDED, Code.CLAIMED_SILENT, Code.WORKERS_SILENT);
  }

  @Test
  void nothing_else_is_said_about_a_waiting_run_whose_deadline_passed() {
    RunId run = engine.start(new TestOptions().withExecutionTimeoutMs(60_000).build());
    Queries queries = withoutEngine();
    clock.ahead(Duration.ofSeconds(90));

    assertThat(queries.explain(NAMESPACE, run).causes())
        .singleElement()
        .satisfies(
            cause -> {
              assertThat(cause.code()).isEqualTo(Code.DEADLINE_PASSED);
              assertThat(cause.text()).contains("ends it as TIMED_OUT");
            });
  }

  @Test
  void a_message_that_was_not_delivered_is_named() {
    RunId run = engine.start();
    Queries queries = withoutEngine();
    database.execute(
        "INSERT INTO kagzi.run_messages (to_run, step_id, what, created_at) VALUES ('"
            + run
            + "', 'pack', 'COMPLETED', kagzi.clock() - interval '1 minute')");

    WaitCause cause = queries.explain(NAMESPACE, run).causes().getFirst();

    assertThat(cause.code()).isEqualTo(Code.MESSAGE_PENDING);
    assertThat(cause.text()).containsPattern("\\(for 1 min( \\d s)?\\)");
    database.execute("DELETE FROM kagzi.run_messages");
  }

  /** Closes the engine, which would change the run, and returns queries of the same database. */
  private Queries withoutEngine() {
    engine.close();
    return new Queries(database.open(), Limits.DEFAULT, RULES, () -> {});
  }

  @Test
  void a_database_that_does_not_answer_is_the_cause() {
    DatabaseConfig config =
        new DatabaseConfig("jdbc:postgresql://127.0.0.1:1/kagzi?connectTimeout=1", "kagzi", "");
    try (Database away = Database.open(config)) {
      Explanation explained =
          new Queries(away, Limits.DEFAULT, RULES, () -> {}).explain(NAMESPACE, RunId.next());

      assertThat(explained.status()).isNull();
      assertThat(explained.causes())
          .singleElement()
          .satisfies(cause -> assertThat(cause.code()).isEqualTo(Code.DATABASE_AWAY));
    }
  }

  @Test
  void a_statement_that_fails_does_not_mean_that_the_database_is_away() {
    RunId run = engine.start();
    String role = "blind_" + ProcessHandle.current().pid();
    database.execute("CREATE ROLE %s LOGIN PASSWORD 'blind'".formatted(role));
    try (Database blind =
        Database.open(new DatabaseConfig(database.config().jdbcUrl(), role, "blind"))) {
      Queries queries = new Queries(blind, Limits.DEFAULT, RULES, () -> {});

      assertThatThrownBy(() -> queries.explain(NAMESPACE, run))
          .isInstanceOf(Refusal.class)
          .hasMessage("a statement failed in the database (SQLSTATE 42501); try again");
    } finally {
      database.execute("DROP ROLE " + role);
    }
  }

  @Test
  void a_requested_start_waits_for_a_server() {
    engine.close();
    RunId run = RunId.next();
    database.execute(
        "SELECT kagzi.start_workflow('order', '%s', run_id => '%s')".formatted(queue, run));

    Explanation explanation =
        new Queries(database.open(), Limits.DEFAULT, RULES, () -> {}).explain(NAMESPACE, run);

    assertThat(explanation.status()).isNull();
    assertThat(explanation.causes())
        .singleElement()
        .satisfies(cause -> assertThat(cause.code()).isEqualTo(Code.START_REQUESTED));
    engine = TestEngine.start(database.config(), queue);
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(codes(run)).doesNotContain(Code.START_REQUESTED));
    assertThat(engine.run(run).status()).isEqualTo(RunStatus.PENDING);
  }

  @Test
  void a_requested_start_that_was_refused_has_a_reason() {
    RunId run = RunId.next();
    database.execute("SELECT kagzi.start_workflow('', '%s', run_id => '%s')".formatted(queue, run));
    engine.engine().clockMoved();

    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .untilAsserted(() -> assertThat(codes(run)).containsExactly(Code.START_REFUSED));
    assertThat(first(run, Code.START_REFUSED).text()).contains("INVALID_ARGUMENT", "workflow_type");
    assertThatThrownBy(() -> engine.engine().queries().explain("another", run))
        .isInstanceOf(Refusal.class);
  }
}
