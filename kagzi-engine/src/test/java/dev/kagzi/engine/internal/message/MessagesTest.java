package dev.kagzi.engine.internal.message;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.failed;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.FamilyTest;
import dev.kagzi.engine.Holds;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestReports;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.run.StartRun;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerRegistration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Runs affect each other only by messages, and each message is applied once. */
class MessagesTest extends FamilyTest {
  private static final String CHILDREN = "children";
  private static final String TAKE = "DELETE FROM kagzi.run_messages";

  private QueueName childQueue() {
    return new QueueName(NAMESPACE, queue + CHILDREN);
  }

  private RunId startChild(RunId parent, String step) {
    StartRequest request =
        new StartRequest(
            NAMESPACE,
            "",
            childQueue().queue(),
            TYPE,
            "",
            payload("1"),
            null,
            null,
            StartOptions.NONE);
    return await(
            engine
                .engine()
                .runs()
                .startFor(request, new StartRun.Lineage(Origin.CHILD, parent, step)))
        .runId();
  }

  private WorkerId registerForChildren(TestEngine where) {
    return await(
        where
            .engine()
            .workers()
            .register(
                new WorkerRegistration(
                    childQueue(),
                    List.of(new TypeVersion(TYPE, "")),
                    false,
                    "host",
                    1,
                    "",
                    Map.of(),
                    null,
                    Map.of(),
                    ""),
                null));
  }

  private List<Task> claimChildren(TestEngine where, WorkerId who, int count) {
    List<Task> tasks = new ArrayList<>();
    while (tasks.size() < count) {
      tasks.addAll(
          await(
              where
                  .engine()
                  .tasks()
                  .poll(
                      new PollRequest(
                          childQueue(),
                          who,
                          List.of(new PollRequest.Wanted(TYPE, "", 0)),
                          count - tasks.size(),
                          10_000))
                  .tasks()));
    }
    return tasks;
  }

  private Claim claimChild() {
    return claimChildren(engine, registerForChildren(engine), 1).get(0).claim();
  }

  private static Report park(Claim claim, boolean all, @Nullable Long ms, String... steps) {
    return TestReports.awaited(claim, List.of(steps), all, ms);
  }

  private static RecordedStep completed(String step, String output) {
    return new RecordedStep(
        step,
        1,
        StepKind.CHILD_WORKFLOW,
        new RecordedStep.Result.Output(payload(output)),
        null,
        null,
        null,
        null);
  }

  /** Without the child's id, which is new each time. */
  private static List<RecordedStep> plain(List<RecordedStep> steps) {
    return steps.stream()
        .map(
            step ->
                new RecordedStep(
                    step.stepKey(),
                    step.attempt(),
                    step.kind(),
                    step.result(),
                    null,
                    null,
                    null,
                    null))
        .toList();
  }

  private static List<RecordedStep> endedSteps(ReportResult result) {
    assertThat(result)
        .isInstanceOfSatisfying(
            ReportResult.AwaitedSteps.class, came -> assertThat(came.claimKept()).isTrue());
    return plain(((ReportResult.AwaitedSteps) result).steps());
  }

  private long unread() {
    return stored.count(
        "SELECT count(*) AS value FROM kagzi.run_messages m JOIN kagzi.workflow_runs r"
            + " ON r.run_id = m.to_run WHERE r.task_queue = '"
            + queue
            + "'");
  }

  @Test
  void a_run_that_waits_for_all_wakes_with_the_last_result() {
    RunId parent = engine.start();
    Task task = engine.claimOne(worker);
    startChild(parent, "a");
    startChild(parent, "b");
    WorkerId childWorker = registerForChildren(engine);
    Claim a = claimChildren(engine, childWorker, 1).get(0).claim();
    Claim b = claimChildren(engine, childWorker, 1).get(0).claim();
    engine.report(park(task.claim(), true, null, "a", "b"));

    engine.report(done(a, "\"one\""));
    Awaitility.await().until(() -> unread() == 0);
    RunStatus afterOne = engine.run(parent).status();
    engine.report(done(b, "\"two\""));
    Task woken = engine.claimOne(worker);

    assertThat(afterOne).isEqualTo(RunStatus.SLEEPING);
    assertThat(woken.claim()).isEqualTo(new Claim(parent, 2));
    assertThat(plain(woken.steps()))
        .containsExactlyInAnyOrder(completed("a", "\"one\""), completed("b", "\"two\""));
    assertThat(unread()).isZero();
    assertThat(engine.run(parent).crashes()).isZero();
  }

  @Test
  void a_run_that_waits_for_any_wakes_with_the_first_result() {
    RunId parent = engine.start();
    Task task = engine.claimOne(worker);
    startChild(parent, "a");
    startChild(parent, "b");
    Claim one = claimChild();
    engine.report(park(task.claim(), false, null, "a", "b"));

    engine.report(done(one, "1"));
    Task woken = engine.claimOne(worker);

    assertThat(woken.claim()).isEqualTo(new Claim(parent, 2));
    assertThat(woken.steps()).hasSize(1);
  }

  @Test
  void a_child_that_fails_or_is_cancelled_is_a_final_failure_of_its_step() {
    RunId parent = engine.start();
    Task task = engine.claimOne(worker);
    startChild(parent, "a");
    Claim a = claimChild();
    RunId b = startChild(parent, "b");
    engine.report(park(task.claim(), true, null, "a", "b"));

    engine.report(failed(a, "no luck"));
    await(engine.engine().runs().cancel(NAMESPACE, b));
    Task woken = engine.claimOne(worker);

    assertThat(woken.steps())
        .hasSize(2)
        .allMatch(step -> step.result() instanceof RecordedStep.Result.FinalFailure)
        .anyMatch(
            step ->
                step.result() instanceof RecordedStep.Result.FinalFailure(var why)
                    && why.message().equals("no luck"));
  }

  @Test
  void a_wait_with_a_timeout_ends_without_a_result() {
    RunId parent = engine.start();
    Task task = engine.claimOne(worker);

    engine.report(park(task.claim(), true, 300L, "never"));
    Task woken = engine.claimOne(worker);

    assertThat(woken.claim()).isEqualTo(new Claim(parent, 2));
    assertThat(woken.steps()).isEmpty();
  }

  @Test
  void a_run_that_parks_after_its_child_has_ended_continues_at_once() {
    RunId parent = engine.start();
    Task task = engine.claimOne(worker);
    startChild(parent, "a");
    engine.report(done(claimChild(), "1"));
    Awaitility.await().until(() -> unread() == 0);

    ReportResult parked = engine.report(park(task.claim(), true, null, "a"));

    assertThat(endedSteps(parked)).containsExactly(completed("a", "1"));
    assertThat(engine.run(parent).status()).isEqualTo(RunStatus.RUNNING);
  }

  /** The child's end commits during the park: its message waits for the parent's lock. */
  @Test
  void a_child_that_ends_while_its_parent_is_being_parked_is_not_lost() throws Exception {
    RunId parent = engine.start();
    Task task = engine.claimOne(worker);
    RunId child = startChild(parent, "a");
    // The parent's lane is held, so the child ends on another server.
    try (TestEngine other = start(new Holds(database.config()))) {
      Claim claim = claimChildren(other, registerForChildren(other), 1).get(0).claim();

      try (Holds.Hold park = holds.commitAfter(TAKE)) {
        var parked =
            engine
                .engine()
                .reports()
                .accept(NAMESPACE, List.of(park(task.claim(), true, null, "a")));
        park.awaitReached();
        other.report(done(claim, "\"late\""));
        Awaitility.await().until(() -> parked.isDone() || stored.somebodyWaitsForALock());
        assertThat(parked).isNotDone();
      }
      Task woken = engine.claimOne(worker);

      assertThat(claim.runId()).isEqualTo(child);
      assertThat(woken.claim()).isEqualTo(new Claim(parent, 2));
      assertThat(plain(woken.steps())).containsExactly(completed("a", "\"late\""));
    }
  }

  /** The child's end is committed and its message not delivered yet: the park finds it. */
  @Test
  void an_undelivered_message_is_found_by_the_park() throws Exception {
    RunId parent = engine.start();
    Task task = engine.claimOne(worker);
    startChild(parent, "a");
    Holds held = new Holds(database.config());
    try (TestEngine other = start(held)) {
      Claim claim = claimChildren(other, registerForChildren(other), 1).get(0).claim();

      ReportResult parked;
      try (Holds.Hold end = held.statement(LOCK)) {
        var ended = other.engine().reports().accept(NAMESPACE, List.of(done(claim, "1")));
        end.awaitReached();
        try (Holds.Hold delivery = held.statement(LOCK)) {
          end.release();
          await(ended);
          delivery.awaitReached();
          parked = engine.report(park(task.claim(), true, null, "a"));
        }
      }

      assertThat(endedSteps(parked)).containsExactly(completed("a", "1"));
    }
  }

  @Test
  void a_message_whose_notification_was_lost_is_delivered_by_a_chore() {
    RunId parent = engine.start();
    Task task = engine.claimOne(worker);
    engine.report(park(task.claim(), true, null, "a"));
    database.execute(
        "INSERT INTO kagzi.run_messages (to_run, step_id, what, data, metadata, created_at)"
            + " VALUES ('"
            + parent
            + "', 'a', 'COMPLETED', '1', '{}', kagzi.clock() - interval '3 seconds')");

    Task woken = engine.claimOne(worker);

    assertThat(woken.steps()).containsExactly(completed("a", "1"));
    assertThat(unread()).isZero();
  }

  @Test
  void messages_to_an_ended_run_are_deleted() {
    RunId parent = engine.start();
    Task task = engine.claimOne(worker);
    startChild(parent, "a");
    Claim child = claimChild();
    engine.report(done(task.claim(), "1"));
    String before = stored.everythingOf(parent);

    engine.report(done(child, "1"));
    Awaitility.await().until(() -> unread() == 0);

    assertThat(stored.everythingOf(parent)).isEqualTo(before);
  }

  /** Messages to one run are read together. */
  @Test
  void a_hundred_children_wake_their_parent_a_few_times() {
    RunId parent = engine.start();
    Task task = engine.claimOne(worker);
    Set<String> open = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      open.add("child-" + i);
      startChild(parent, "child-" + i);
    }
    List<Report> ends = new ArrayList<>();
    claimChildren(engine, registerForChildren(engine), 100)
        .forEach(child -> ends.add(done(child.claim(), "1")));
    engine.report(park(task.claim(), false, null, open.toArray(String[]::new)));

    var reported = engine.engine().reports().accept(NAMESPACE, ends);
    Task woken = engine.claimOne(worker);
    while (true) {
      woken.steps().forEach(step -> open.remove(step.stepKey()));
      if (open.isEmpty()) {
        break;
      }
      ReportResult result =
          engine.report(park(woken.claim(), false, null, open.toArray(String[]::new)));
      if (result instanceof ReportResult.AwaitedSteps came && came.claimKept()) {
        came.steps().forEach(step -> open.remove(step.stepKey()));
      } else {
        woken = engine.claimOne(worker);
      }
    }

    await(reported);
    assertThat(woken.claim().epoch()).isLessThanOrEqualTo(10);
  }
}
