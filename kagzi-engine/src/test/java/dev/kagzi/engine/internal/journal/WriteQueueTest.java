package dev.kagzi.engine.internal.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The queue of a lane, and writes that wait for space in it. */
class WriteQueueTest {
  private static final class Numbered extends Write<Integer> {
    final int number;

    Numbered(int number) {
      this.number = number;
    }

    @Override
    protected UUID key() {
      return new UUID(0, 0);
    }

    @Override
    protected int bytes() {
      return 100;
    }
  }

  @Test
  void no_write_overtakes_those_that_wait_for_space() throws Exception {
    for (int round = 0; round < 200; round++) {
      WriteQueue<Numbered> queue = new WriteQueue<>(100);
      assertThat(queue.offer(List.of(new Numbered(0)))).isTrue();
      List<Thread> waiting = new ArrayList<>();
      for (int i = 1; i <= 2; i++) {
        waiting.add(waiter(queue, new Numbered(i)));
      }

      List<Integer> taken = numbers(queue.take(10, 1_000));
      boolean overtaken = queue.offer(List.of(new Numbered(3)));

      assertThat(overtaken).isFalse();
      while (taken.size() < 3) {
        taken.addAll(numbers(queue.take(10, 1_000)));
      }
      assertThat(taken).containsExactly(0, 1, 2);
      for (Thread thread : waiting) {
        assertThat(thread.join(Duration.ofSeconds(10))).isTrue();
      }
      assertThat(queue.offer(List.of(new Numbered(4)))).isTrue();
    }
  }

  @Test
  void a_write_that_gives_up_does_not_block_those_behind_it() throws Exception {
    WriteQueue<Numbered> queue = new WriteQueue<>(100);
    queue.offer(List.of(new Numbered(0)));
    WriteQueue.Place<Numbered> first = queue.reservePlace();
    WriteQueue.Place<Numbered> second = queue.reservePlace();

    assertThat(WriteQueue.offer(first, List.of(new Numbered(1)), 1)).isFalse();
    queue.take(10, 1_000);

    assertThat(WriteQueue.offer(second, List.of(new Numbered(2)), 1)).isTrue();
  }

  /**
   * If they stayed in the shared queue, a server under full load would never use its other lanes
   * again.
   */
  @Test
  void callers_that_wait_for_space_are_taken_back_with_their_queue() throws Exception {
    WriteQueue<Numbered> shared = new WriteQueue<>(100);
    WriteQueue<Numbered> queue = new WriteQueue<>(100);
    queue.forwardTo(shared);
    shared.offer(List.of(new Numbered(0)));
    Thread other = waiter(shared, new Numbered(1));
    Thread first = waiter(queue, new Numbered(2));
    Thread second = waiter(queue, new Numbered(3));

    queue.takeBack(shared, write -> false);

    assertThat(first.join(Duration.ofSeconds(10))).isTrue();
    assertThat(numbers(queue.drain())).containsExactly(2);
    assertThat(second.join(Duration.ofSeconds(10))).isTrue();
    assertThat(numbers(queue.drain())).containsExactly(3);
    assertThat(numbers(shared.drain())).containsExactly(0);
    assertThat(other.join(Duration.ofSeconds(10))).isTrue();
    assertThat(numbers(shared.drain())).containsExactly(1);
  }

  @Test
  void callers_that_wait_for_space_are_forwarded_with_their_queue() throws Exception {
    WriteQueue<Numbered> shared = new WriteQueue<>(100);
    WriteQueue<Numbered> queue = new WriteQueue<>(100);
    queue.offer(List.of(new Numbered(0)));
    Thread waiting = waiter(queue, new Numbered(1));

    queue.forwardTo(shared);

    assertThat(numbers(shared.drain())).containsExactly(0);
    assertThat(waiting.join(Duration.ofSeconds(10))).isTrue();
    assertThat(numbers(shared.drain())).containsExactly(1);
  }

  @Test
  void a_closed_queue_takes_nothing_back() {
    WriteQueue<Numbered> shared = new WriteQueue<>(100);
    WriteQueue<Numbered> queue = new WriteQueue<>(100);
    queue.forwardTo(shared);
    queue.offer(List.of(new Numbered(0)));
    queue.close();

    queue.takeBack(shared, write -> true);

    assertThat(queue.size()).isZero();
    assertThat(shared.size()).isEqualTo(1);
  }

  private static Thread waiter(WriteQueue<Numbered> queue, Numbered write) {
    WriteQueue.Place<Numbered> place = queue.reservePlace();
    Thread thread =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    WriteQueue.offer(place, List.of(write), TimeUnit.SECONDS.toNanos(10));
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                });
    await()
        .pollInterval(Duration.ofMillis(1))
        .until(() -> thread.getState() == Thread.State.TIMED_WAITING);
    return thread;
  }

  private static List<Integer> numbers(List<Numbered> writes) {
    return new ArrayList<>(writes.stream().map(write -> write.number).toList());
  }
}
