package dev.kagzi.sdk.e2e;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;

/** A program that starts a worker and a run: address and queue are arguments. */
final class WithoutMicrometer {
  private WithoutMicrometer() {}

  public static void main(String[] args) {
    try {
      Class.forName("io.micrometer.core.instrument.MeterRegistry");
      throw new AssertionError("Micrometer is on the class path (expected: it is not)");
    } catch (ClassNotFoundException expected) {
      System.out.println("without Micrometer");
    }
    WorkflowType<String, String> type =
        WorkflowType.of("greet", String.class, String.class).queue(args[1]);
    try (Kagzi kagzi = Kagzi.builder().address(args[0]).connect()) {
      kagzi
          .worker()
          .workflow(type, (ctx, name) -> ctx.step("greet", String.class, () -> "hello " + name))
          .start();
      System.out.println(
          "result: " + kagzi.workflow(type).start("Ada").result(Duration.ofSeconds(30)));
    }
  }
}
