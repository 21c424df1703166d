package dev.kagzi.engine.thread;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@NullMarked
@Timeout(60)
class EssentialThreadsTest {
  private final EssentialThreads threads = new EssentialThreads();
  private final CompletableFuture<ThreadFailure> reported = new CompletableFuture<>();

  @BeforeEach
  void listen() {
    threads.onFailure(reported::complete);
  }

  @Test
  void a_loop_that_returns_is_reported() {
    threads.loop("loop", () -> {}).start();

    assertThat(reported.join()).hasMessage("thread loop ended").hasNoCause();
    assertThat(threads.failure()).containsSame(reported.join());
  }

  @Test
  void a_loop_that_throws_is_reported_with_its_cause() {
    Error cause = new OutOfMemoryError("planted");
    threads
        .loop(
            "loop",
            () -> {
              throw cause;
            })
        .start();

    assertThat(reported.join())
        .hasMessage("thread loop ended: java.lang.OutOfMemoryError: planted")
        .hasCause(cause);
  }

  @Test
  void an_error_of_a_timer_s_task_is_reported() {
    Error cause = new OutOfMemoryError("planted");
    try (ScheduledThreadPoolExecutor timer = threads.timer("timer")) {
      Future<?> unused =
          timer.schedule(
              () -> {
                throw cause;
              },
              1,
              MILLISECONDS);

      assertThat(reported.join()).hasCause(cause);
    }
  }

  @Test
  void an_exception_of_a_periodic_task_is_reported_since_it_ends_the_task() {
    IllegalStateException cause = new IllegalStateException("planted");
    try (ScheduledThreadPoolExecutor timer = threads.timer("timer")) {
      Future<?> unused =
          timer.scheduleWithFixedDelay(
              () -> {
                throw cause;
              },
              0,
              1,
              MILLISECONDS);

      assertThat(reported.join()).hasCause(cause);
    }
  }

  @Test
  void an_error_of_a_pool_s_task_is_reported() {
    Error cause = new OutOfMemoryError("planted");
    try (ThreadPoolExecutor pool = threads.pool("pool", 1)) {
      pool.execute(
          () -> {
            throw cause;
          });

      assertThat(reported.join()).hasCause(cause);
    }
  }

  @Test
  void an_exception_of_a_single_task_does_not_affect_others() throws Exception {
    CountDownLatch next = new CountDownLatch(2);
    try (ScheduledThreadPoolExecutor timer = threads.timer("timer");
        ThreadPoolExecutor pool = threads.pool("pool", 1)) {
      timer.execute(EssentialThreadsTest::fail);
      timer.execute(next::countDown);
      Future<?> unused = pool.submit(EssentialThreadsTest::fail);
      pool.execute(next::countDown);

      assertThat(next.await(30, TimeUnit.SECONDS)).isTrue();
    }
    assertThat(threads.failure()).isEmpty();
  }

  private static void fail() {
    throw new IllegalStateException("planted");
  }

  @Test
  void the_first_failure_is_reported_also_to_an_owner_that_comes_later() {
    EssentialThreads early = new EssentialThreads();
    early.failed("first", null);
    early.failed("second", null);

    early.onFailure(reported::complete);

    assertThat(reported.join()).hasMessage("thread first ended");
  }

  @Test
  void threads_may_end_once_their_owner_closes() throws Exception {
    threads.close();
    Thread loop = threads.loop("loop", () -> {});
    loop.start();

    loop.join();

    assertThat(reported).isNotDone();
    assertThat(threads.failure()).isEmpty();
  }

  @Test
  void a_loop_may_return_but_not_throw_once_its_own_owner_is_closed() throws Exception {
    Thread returns = threads.loop("returns", () -> {}, () -> true);
    returns.start();
    returns.join();
    assertThat(threads.failure()).isEmpty();

    threads.loop("throws", EssentialThreadsTest::fail, () -> true).start();

    assertThat(reported.join()).hasMessageStartingWith("thread throws ended");
  }
}
