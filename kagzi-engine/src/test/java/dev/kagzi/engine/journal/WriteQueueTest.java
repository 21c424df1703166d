package dev.kagzi.engine.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What waits for a lane, and who waits before it. */
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
  void nobody_overtakes_those_who_wait_for_room() throws Exception {
    for (int round = 0; round < 200; round++) {
      WriteQueue<Numbered> intake = new WriteQueue<>(100);
      assertThat(intake.offer(List.of(new Numbered(0)))).isTrue();
      List<Thread> waiting = new ArrayList<>();
      for (int i = 1; i <= 2; i++) {
        waiting.add(waiter(intake, new Numbered(i)));
      }

      List<Integer> taken = numbers(intake.take(10, 1_000));
      boolean overtaken = intake.offer(List.of(new Numbered(3)));

      assertThat(overtaken).isFalse();
      while (taken.size() < 3) {
        taken.addAll(numbers(intake.take(10, 1_000)));
      }
      assertThat(taken).containsExactly(0, 1, 2);
      for (Thread thread : waiting) {
        assertThat(thread.join(Duration.ofSeconds(10))).isTrue();
      }
      assertThat(intake.offer(List.of(new Numbered(4)))).isTrue();
    }
  }

  @Test
  void who_gives_up_does_not_block_those_behind() throws Exception {
    WriteQueue<Numbered> intake = new WriteQueue<>(100);
    intake.offer(List.of(new Numbered(0)));
    WriteQueue.Place first = intake.reservePlace();
    WriteQueue.Place second = intake.reservePlace();

    assertThat(intake.offer(first, List.of(new Numbered(1)), 1)).isFalse();
    intake.take(10, 1_000);

    assertThat(intake.offer(second, List.of(new Numbered(2)), 1)).isTrue();
  }

  private static Thread waiter(WriteQueue<Numbered> intake, Numbered write) {
    WriteQueue.Place place = intake.reservePlace();
    Thread thread =
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    intake.offer(place, List.of(write), TimeUnit.SECONDS.toNanos(10));
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
