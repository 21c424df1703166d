package dev.kagzi.examples;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.examples.OrderExample.Order;
import dev.kagzi.examples.SagaExample.Trip;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests changed code against recorded histories: today's code replays histories of older code
 * (docs/testing.md).
 */
@ExtendWith(KagziExtension.class)
class HistoriesTest {
  private static final Path HISTORIES = Path.of("src/test/resources/histories");
  private static final Path DIFFERENT = Path.of("src/test/resources/histories-that-differ");

  @Test
  void todays_code_replays_the_histories_of_older_code(KagziEnv env) {
    serve(env);

    env.replayAll(HISTORIES);
  }

  @Test
  void an_order_that_was_shipped_before_its_sleep_is_reported_as_a_difference(KagziEnv env) {
    serve(env);

    assertThatThrownBy(() -> env.replay(DIFFERENT.resolve("order-shipped-first.json")))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("order-shipped-first.json: run ")
        .hasMessageContaining(
            "of process-order: step 2: on record is step ship, the code asks for sleep cool-off");
    assertThatThrownBy(() -> env.replayAll(DIFFERENT))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("1 of 1 histories differ");
  }

  private static void serve(KagziEnv env) {
    env.worker()
        .workflow(OrderExample.PROCESS_ORDER, OrderExample::processOrder)
        .workflow(SagaExample.BOOK_TRIP, new SagaExample()::bookTrip)
        .start();
  }

  // ---- the older code, and how its histories were written

  /** Without a retry policy and with a longer sleep; a replay compares neither. */
  private static String processOrderOlder(WorkflowContext ctx, Order order) {
    String payment = ctx.step("charge", String.class, () -> "paid " + order.cents());
    ctx.sleep("cool-off", "24h");
    return ctx.step("ship", String.class, () -> payment + ", shipped " + order.item());
  }

  private static String shipFirst(WorkflowContext ctx, Order order) {
    String payment = ctx.step("charge", String.class, () -> "paid " + order.cents());
    String shipped = ctx.step("ship", String.class, () -> payment + ", shipped " + order.item());
    ctx.sleep("cool-off", "24h");
    return shipped;
  }

  private static Workflow<Order, String> chargedAtThirdAttempt() {
    AtomicInteger attempts = new AtomicInteger();
    return (ctx, order) -> {
      String payment =
          ctx.step("charge")
              .retry(Retry.fixed(3, Duration.ofMinutes(1)))
              .run(
                  String.class,
                  () -> {
                    if (attempts.incrementAndGet() < 3) {
                      throw new IllegalStateException("the gateway is closed");
                    }
                    return "paid " + order.cents();
                  });
      ctx.sleep("cool-off", "24h");
      return ctx.step("ship", String.class, () -> payment + ", shipped " + order.item());
    };
  }

  /**
   * Rewrites the stored histories with {@code mvn -pl examples -am test -Dkagzi.histories=write}.
   */
  @Test
  void executing_the_older_code_writes_the_histories(KagziEnv env, @TempDir Path folder)
      throws IOException {
    boolean rewrite = "write".equals(System.getProperty("kagzi.histories"));
    Path matching = rewrite ? HISTORIES : Files.createDirectory(folder.resolve("matching"));
    Path different = rewrite ? DIFFERENT : Files.createDirectory(folder.resolve("different"));

    write(env, HistoriesTest::processOrderOlder, 48, matching.resolve("order-completed.json"));
    write(env, HistoriesTest::processOrderOlder, 1, matching.resolve("order-cooling-off.json"));
    write(env, chargedAtThirdAttempt(), 48, matching.resolve("order-charged-at-third-try.json"));
    write(env, HistoriesTest::shipFirst, 48, different.resolve("order-shipped-first.json"));
    try (Worker worker =
        env.worker().workflow(SagaExample.BOOK_TRIP, new SagaExample()::bookTrip).start()) {
      RunHandle<String> run =
          env.kagzi().workflow(SagaExample.BOOK_TRIP).start(new Trip("ada", "Oslo"));
      env.advance(Duration.ofHours(1));
      run.history().write(matching.resolve("trip-undone.json"));
      worker.shutdown();
    }

    serve(env);
    env.replayAll(matching);
    assertThatThrownBy(() -> env.replayAll(different))
        .hasMessageContaining("1 of 1 histories differ");
  }

  private static void write(KagziEnv env, Workflow<Order, String> code, int hours, Path file) {
    try (Worker worker = env.worker().workflow(OrderExample.PROCESS_ORDER, code).start()) {
      RunHandle<String> run =
          env.kagzi().workflow(OrderExample.PROCESS_ORDER).start(new Order("lamp", 4200));
      env.advance(Duration.ofHours(hours));
      run.history().write(file);
      worker.shutdown();
    }
  }
}
