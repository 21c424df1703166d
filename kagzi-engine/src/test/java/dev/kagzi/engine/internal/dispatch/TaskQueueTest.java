package dev.kagzi.engine.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.memory.ByteBudget;
import dev.kagzi.engine.metrics.Meters;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a task queue decides, without threads and without a database. */
class TaskQueueTest {
  private static final TypeVersion TYPE = new TypeVersion("order", "");
  private static final QueueName NAME = new QueueName("default", "q");

  private final WorkerId workerId = WorkerId.next();
  private final ByteBudget taskBytes = new ByteBudget(1 << 20);
  private final TaskQueue queue = queue(Duration.ofHours(1));

  private TaskQueue queue(Duration keepSlots) {
    DispatchConfig defaults = DispatchConfig.defaults();
    DispatchConfig config =
        new DispatchConfig(
            defaults.pollMax(),
            defaults.firstLease(),
            Duration.ofHours(1),
            keepSlots,
            defaults.answerBytesMax(),
            defaults.claimers());
    return new TaskQueue(
        NAME, config, taskBytes, Meters.unpublished().dispatch().queue("default", "q"));
  }

  private WaitingPoll poll(int tasksMax) {
    List<PollRequest.Wanted> types = List.of(new PollRequest.Wanted(TYPE.type(), "", 0));
    return new WaitingPoll(new PollRequest(NAME, workerId, types, tasksMax, 1_000));
  }

  private static Task task(RunId run) {
    return new Task(
        new Claim(run, 1),
        TYPE.type(),
        TYPE.version(),
        1,
        null,
        0,
        List.of(),
        false,
        "",
        Instant.EPOCH,
        Instant.EPOCH,
        null,
        0,
        Map.of(),
        Task.Cancel.NONE,
        System.nanoTime());
  }

  /** A claim round that finds no due run: from then on the queue knows that it has no backlog. */
  private static void drain(TaskQueue queue) {
    for (ClaimGroup group : queue.beginClaimRound()) {
      queue.claimed(group, List.of(), false);
    }
    assertThat(queue.endClaimRound().isClaimWanted()).isFalse();
  }

  private static PollingWorker reserve(TaskQueue queue) {
    PollingWorker worker = queue.reserveSlot(TYPE);
    if (worker == null) {
      throw new AssertionError("no slot was reserved");
    }
    return worker;
  }

  @Test
  void a_poll_requests_one_claim_round_while_runs_may_be_due() {
    QueueEffects first = queue.add(poll(1), WorkerLimits.NONE);
    QueueEffects second = queue.add(poll(1), WorkerLimits.NONE);

    assertThat(first.isClaimWanted()).isTrue();
    assertThat(second.isClaimWanted()).as("the first round serves both").isFalse();
    assertThat(first.answers()).isEmpty();
  }

  @Test
  void a_run_that_is_announced_during_a_claim_round_causes_another_round() {
    queue.add(poll(1), WorkerLimits.NONE);
    List<ClaimGroup> groups = queue.beginClaimRound();
    boolean wantedDuringRound = queue.runsDue(TYPE, 0, 1).isClaimWanted();
    groups.forEach(group -> queue.claimed(group, List.of(), false));

    QueueEffects ended = queue.endClaimRound();

    assertThat(wantedDuringRound).isFalse();
    assertThat(ended.isClaimWanted()).isTrue();
  }

  @Test
  void a_run_that_is_due_later_causes_a_wake_up_and_no_claim_round() {
    queue.add(poll(1), WorkerLimits.NONE);
    drain(queue);

    QueueEffects effects = queue.runsDue(TYPE, 700, 1);

    assertThat(effects.isClaimWanted()).isFalse();
    assertThat(effects.wakeUpMs()).isEqualTo(701);
  }

  @Test
  void claimed_runs_are_answers_to_the_waiting_polls_at_the_end_of_the_round() {
    WaitingPoll poll = poll(2);
    queue.add(poll, WorkerLimits.NONE);
    Task task = task(RunId.next());
    ClaimGroup group = queue.beginClaimRound().get(0);

    QueueEffects claimed = queue.claimed(group, List.of(new ClaimedRun(workerId, task)), false);
    QueueEffects ended = queue.endClaimRound();

    assertThat(claimed.answers()).isEmpty();
    assertThat(ended.answers()).containsExactly(new QueueEffects.Answer(poll, List.of(task)));
    assertThat(poll.tasks()).as("the queue itself completes nothing").isNotDone();
    assertThat(taskBytes.held()).isZero();
  }

  @Test
  void a_failed_claim_query_is_retried_with_a_growing_delay() {
    queue.add(poll(1), WorkerLimits.NONE);

    long first = queue.claimNotMade(queue.beginClaimRound().get(0)).wakeUpMs();
    queue.endClaimRound();
    long second = queue.claimNotMade(queue.beginClaimRound().get(0)).wakeUpMs();

    assertThat(first).isEqualTo(20);
    assertThat(second).isEqualTo(40);
  }

  @Test
  void a_start_gets_a_slot_only_if_no_older_run_may_be_due() {
    queue.add(poll(2), WorkerLimits.NONE);
    PollingWorker early = queue.reserveSlot(TYPE);
    drain(queue);

    PollingWorker first = queue.reserveSlot(TYPE);
    queue.runsDue(TYPE, 0, 1);
    PollingWorker second = queue.reserveSlot(TYPE);

    assertThat(early).as("before the first claim query").isNull();
    assertThat(first).isNotNull();
    assertThat(second).as("the last slot is for the older run").isNull();
  }

  @Test
  void runs_of_another_server_leave_the_other_slots_to_starts_if_their_number_is_known() {
    queue.add(poll(10), WorkerLimits.NONE);
    drain(queue);

    queue.runsDue(TYPE, 0, 3);
    PollingWorker besidesThree = queue.reserveSlot(TYPE);
    queue.runsDue(TYPE, 0, 0);
    PollingWorker besidesUnknown = queue.reserveSlot(TYPE);

    assertThat(besidesThree).isNotNull();
    assertThat(besidesUnknown).isNull();
  }

  @Test
  void free_slots_cover_the_backlog_until_there_are_more_runs() {
    queue.add(poll(2), WorkerLimits.NONE);
    boolean beforeTheFirstQuery = queue.coversBacklog(TYPE);
    drain(queue);

    queue.runsDue(TYPE, 0, 2);
    boolean ofTwo = queue.coversBacklog(TYPE);
    queue.runsDue(TYPE, 0, 1);
    boolean ofThree = queue.coversBacklog(TYPE);

    assertThat(beforeTheFirstQuery).isFalse();
    assertThat(ofTwo).isTrue();
    assertThat(ofThree).isFalse();
    assertThat(queue.coversBacklog(new TypeVersion("other", ""))).isFalse();
  }

  @Test
  void the_task_of_a_start_is_delivered_when_polls_are_answered() {
    WaitingPoll poll = poll(1);
    queue.add(poll, WorkerLimits.NONE);
    drain(queue);
    Task task = task(RunId.next());

    QueueEffects filled = queue.fillSlot(reserve(queue), task);
    QueueEffects answered = queue.answerPolls();

    assertThat(filled.answers()).isEmpty();
    assertThat(answered.answers()).containsExactly(new QueueEffects.Answer(poll, List.of(task)));
  }

  @Test
  void the_task_of_a_start_is_released_if_its_worker_left_meanwhile() {
    WaitingPoll poll = poll(1);
    queue.add(poll, WorkerLimits.NONE);
    drain(queue);
    Task task = task(RunId.next());
    PollingWorker slot = reserve(queue);

    QueueEffects left = queue.removeWorker(workerId);
    QueueEffects filled = queue.fillSlot(slot, task);

    assertThat(left.answers()).containsExactly(new QueueEffects.Answer(poll, List.of()));
    assertThat(filled.releases()).containsExactly(task.claim());
    assertThat(taskBytes.held()).isZero();
  }

  @Test
  void slots_of_a_poll_that_timed_out_are_kept_and_those_of_a_cancelled_poll_are_not() {
    WaitingPoll first = poll(1);
    queue.add(first, WorkerLimits.NONE);
    drain(queue);
    QueueEffects timedOut = queue.timeOut(first);
    PollingWorker kept = queue.reserveSlot(TYPE);
    WaitingPoll second = poll(5);
    queue.add(second, WorkerLimits.NONE);

    queue.cancel(second);

    assertThat(timedOut.answers()).containsExactly(new QueueEffects.Answer(first, List.of()));
    assertThat(kept).isNotNull();
    assertThat(queue.reserveSlot(TYPE)).isNull();
    assertThat(queue.cancel(second).answers()).as("a poll ends once").isEmpty();
  }

  @Test
  void the_sweep_releases_tasks_of_a_worker_that_did_not_poll_again_and_forgets_it() {
    TaskQueue hasty = queue(Duration.ZERO);
    WaitingPoll poll = poll(2);
    hasty.add(poll, WorkerLimits.NONE);
    drain(hasty);
    Task task = task(RunId.next());
    PollingWorker slot = reserve(hasty);
    hasty.timeOut(poll);
    hasty.fillSlot(slot, task);
    boolean unusedBefore = hasty.isUnused();

    QueueEffects swept = hasty.sweep();

    assertThat(unusedBefore).isFalse();
    assertThat(swept.releases()).containsExactly(task.claim());
    assertThat(hasty.isUnused()).isTrue();
  }
}
