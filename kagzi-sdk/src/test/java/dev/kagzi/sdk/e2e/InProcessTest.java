package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.WaitInterruptedException;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A client in the process of the server, which it calls in memory. */
class InProcessTest {
  private static final WorkflowType<Integer, Integer> TWICE =
      WorkflowType.of("twice", Integer.class, Integer.class);
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final int RUNS = 100;

  private final RealServer server = new RealServer();
  private final Kagzi kagzi = Kagzi.builder().inProcess(server.inProcessName()).connect();
  private final Worker worker =
      kagzi
          .worker()
          .workflow(TWICE, (ctx, n) -> ctx.step("double", Integer.class, () -> 2 * n))
          .start();

  @AfterEach
  void close() {
    worker.close();
    kagzi.close();
    server.close();
  }

  @Test
  void callbacks_of_futures_may_call_the_server_and_wait() throws Exception {
    List<CompletableFuture<Integer>> results =
        IntStream.range(0, RUNS)
            .mapToObj(
                n ->
                    kagzi
                        .workflow(TWICE)
                        .startAsync(n)
                        .thenApply(run -> run.result(SOON))
                        .thenApply(twice -> kagzi.workflow(TWICE).start(twice).result(SOON)))
            .toList();

    for (int n = 0; n < RUNS; n++) {
      assertThat(results.get(n).get(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(4 * n);
    }
  }

  @Test
  void an_interrupted_caller_does_not_disturb_the_server() throws Exception {
    Thread caller =
        Thread.ofPlatform()
            .start(
                () -> {
                  for (int n = 0; n < RUNS; n++) {
                    Thread.currentThread().interrupt();
                    try {
                      kagzi.workflow(TWICE).id("twice-1").start(1);
                    } catch (WaitInterruptedException expected) {
                      // The start itself goes on.
                    }
                  }
                });

    caller.join();

    assertThat(kagzi.workflow(TWICE).id("twice-1").start(1).result(SOON)).isEqualTo(2);
    assertThat(kagzi.workflow(TWICE).startAll(IntStream.range(0, RUNS).boxed().toList()))
        .allSatisfy(run -> assertThat(run.result(SOON)).isNotNull());
  }
}
