package dev.kagzi.engine.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.memory.ByteBudget;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The limit of a type: the worker does not count tasks that it has not received yet. */
class PollingWorkerTest {
  private static final TypeVersion HEAVY = new TypeVersion("heavy", "2");

  private final WorkerId workerId = WorkerId.next();
  private final PollingWorker worker =
      new PollingWorker(request("2", 0), WorkerLimits.NONE, new ByteBudget(1 << 20));

  private PollRequest request(String version, int heavyMax) {
    return new PollRequest(
        new QueueName("default", "q"),
        workerId,
        List.of(new PollRequest.Wanted("heavy", version, heavyMax)),
        10,
        1_000);
  }

  private WaitingPoll poll(String version, int heavyMax) {
    WaitingPoll poll = new WaitingPoll(request(version, heavyMax));
    worker.addPoll(poll);
    return poll;
  }

  private void reserve(int count) {
    for (int i = 0; i < count; i++) {
      worker.reserve(HEAVY);
    }
  }

  private void fillSlot() {
    worker.unreserve();
    worker.addTask(
        new Task(
            new Claim(RunId.next(), 1),
            HEAVY.type(),
            HEAVY.version(),
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
            System.nanoTime()));
  }

  private boolean hasFreeSlot(String version) {
    return worker.hasFreeSlot(new TypeVersion("heavy", version), System.nanoTime());
  }

  @Test
  void an_undelivered_task_counts_for_the_limit_of_the_next_poll() {
    WaitingPoll first = poll("2", 3);
    reserve(3);
    fillSlot();
    assertThat(hasFreeSlot("2")).isFalse();
    worker.polls.remove(first);
    assertThat(worker.removeTasksFor(first, 1_000)).hasSize(1);

    // The worker has received one of three tasks. The other two runs are not committed yet.
    WaitingPoll second = poll("2", 2);

    assertThat(hasFreeSlot("2")).isFalse();
    fillSlot();
    fillSlot();
    worker.polls.remove(second);
    assertThat(worker.removeTasksFor(second, 1_000)).hasSize(2);
    poll("2", 1);
    assertThat(hasFreeSlot("2")).as("one of three has ended").isTrue();
  }

  @Test
  void a_limit_holds_for_every_version_of_a_type_that_is_polled_for_in_any() {
    poll("*", 1);
    assertThat(hasFreeSlot("*")).isTrue();

    reserve(1);

    assertThat(hasFreeSlot("*")).isFalse();
  }

  @Test
  void a_start_gets_no_slot_while_a_claim_query_may_use_up_the_limit() {
    poll("2", 1);
    worker.reserveForClaim();
    assertThat(hasFreeSlot("2")).isFalse();

    worker.unreserveForClaim();

    assertThat(hasFreeSlot("2")).isTrue();
  }

  @Test
  void a_claim_query_that_fails_after_its_tasks_were_added_frees_its_slots_once() {
    poll("2", 1);
    ClaimGroup group = new ClaimGroup(worker.types(), worker.limits);
    group.add(worker);
    Backlogs backlogs = new Backlogs();
    group.reserveSlots(backlogs, System.nanoTime());
    assertThat(worker.freeSlots(System.nanoTime())).isZero();

    group.releaseSlots(backlogs);
    group.releaseSlots(backlogs);

    assertThat(worker.freeSlots(System.nanoTime())).isEqualTo(10);
    assertThat(hasFreeSlot("2")).isTrue();
  }

  @Test
  void the_slot_of_a_failed_start_is_free_again_with_the_next_poll() {
    poll("2", 1);
    reserve(1);
    worker.unreserve();
    worker.noLongerUndelivered(HEAVY);

    poll("2", 1);

    assertThat(hasFreeSlot("2")).isTrue();
  }
}
