package dev.kagzi.engine.internal.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CommitTurnsTest {
  private static final int MANY = 100;
  private static final long COMMIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final CommitTurns turns = new CommitTurns(2);

  @Test
  void all_lanes_of_one_server_commit_at_once() throws Exception {
    turns.begin(MANY);

    assertThat(begin(MANY)).succeedsWithin(Duration.ofSeconds(10));
    assertThat(turns.waits()).isZero();
  }

  @Test
  void two_servers_with_two_lanes_each_commit_with_one_lane_each() throws Exception {
    turns.setServers(2);
    turns.begin(MANY);
    CompletableFuture<?> other = begin(MANY);
    await().until(() -> turns.waits() == 1);

    turns.end(COMMIT_NANOS);

    assertThat(other).succeedsWithin(Duration.ofSeconds(10));
  }

  @Test
  void three_servers_with_two_lanes_each_pause_for_half_a_commit() throws Exception {
    turns.setServers(3);
    turns.begin(MANY);
    turns.end(TimeUnit.MILLISECONDS.toNanos(40));
    long endedNanos = System.nanoTime();

    turns.begin(MANY);

    assertThat(System.nanoTime() - endedNanos).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(15));
  }

  @Test
  void few_writes_do_not_wait() throws Exception {
    turns.setServers(3);
    turns.begin(1);

    assertThat(begin(2)).succeedsWithin(Duration.ofSeconds(10));
    assertThat(turns.waits()).isZero();
  }

  @Test
  void a_lane_that_stalls_delays_the_others_for_a_limited_time() throws Exception {
    turns.setServers(2);
    turns.begin(MANY);

    assertThat(begin(MANY)).succeedsWithin(Duration.ofSeconds(10));
    assertThat(turns.waits()).isEqualTo(1);
  }

  private CompletableFuture<?> begin(int writes) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            turns.begin(writes);
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
  }
}
