package dev.kagzi.engine.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

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

/** The limit of a type, which the worker counts without what is on its way to it. */
class PollingWorkerTest {
  private static final TypeVersion HEAVY = new TypeVersion("heavy", "2");

  private final WorkerId worker = WorkerId.next();
  private final PollingWorker desk =
      new PollingWorker(worker, new WorkerLimits(null, Map.of()), new ByteBudget(1 << 20));

  @SuppressWarnings("NullAway") // only a poll that leaves needs its gate
  private WaitingPoll stand(String version, int heavyMax) {
    PollRequest request =
        new PollRequest(
            new QueueName("default", "q"),
            worker,
            List.of(new PollRequest.Wanted("heavy", version, heavyMax)),
            10,
            1_000);
    WaitingPoll poll = new WaitingPoll(null, request);
    desk.stand(poll);
    return poll;
  }

  private void starts(int count) {
    for (int i = 0; i < count; i++) {
      desk.reserve(HEAVY);
    }
  }

  private void isOnItsWay() {
    desk.unreserve();
    desk.send(
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
            null,
            0));
  }

  private boolean hasFree(String version) {
    return desk.hasFree(new TypeVersion("heavy", version), System.nanoTime());
  }

  @Test
  void what_is_on_its_way_counts_for_the_limit_of_the_next_poll() {
    WaitingPoll first = stand("2", 3);
    starts(3);
    isOnItsWay();
    assertThat(hasFree("2")).isFalse();
    desk.polls.remove(first);
    assertThat(desk.takeFor(first, 1_000)).hasSize(1);

    // The worker has one of three, and knows nothing of the two that have yet to be durable.
    WaitingPoll second = stand("2", 2);

    assertThat(hasFree("2")).isFalse();
    isOnItsWay();
    isOnItsWay();
    desk.polls.remove(second);
    assertThat(desk.takeFor(second, 1_000)).hasSize(2);
    stand("2", 1);
    assertThat(hasFree("2")).as("one of three has ended").isTrue();
  }

  @Test
  void a_limit_holds_for_every_version_of_a_type_that_is_polled_for_in_any() {
    stand("*", 1);
    assertThat(hasFree("*")).isTrue();

    starts(1);

    assertThat(hasFree("*")).isFalse();
  }

  @Test
  void a_start_waits_for_the_look_that_may_use_the_limit_up() {
    stand("2", 1);
    desk.beginLook();
    assertThat(hasFree("2")).isFalse();

    desk.endLook();

    assertThat(hasFree("2")).isTrue();
  }

  @Test
  void a_look_that_fails_after_it_has_handed_out_frees_its_slots_once() {
    stand("2", 1);
    ClaimGroup group = new ClaimGroup(desk.types(), desk.limits);
    group.add(desk);
    group.takeSlots(new Backlogs(), System.nanoTime());
    assertThat(desk.free(System.nanoTime())).isZero();

    group.freeSlots();
    group.freeSlots();

    assertThat(desk.free(System.nanoTime())).isEqualTo(10);
    assertThat(hasFree("2")).isTrue();
  }

  @Test
  void a_start_that_fails_leaves_its_place_to_the_next_poll() {
    stand("2", 1);
    starts(1);
    desk.unreserve();
    desk.arrived(HEAVY);

    stand("2", 1);

    assertThat(hasFree("2")).isTrue();
  }
}
