package dev.kagzi.cli;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.WorkflowType;
import java.nio.file.Path;

/** An application: a worker in its own process, until it is killed. */
final class GreetingWorker {
  static final WorkflowType<String, String> GREET =
      WorkflowType.of("greet", String.class, String.class).queue("greetings");

  private GreetingWorker() {}

  public static void main(String[] args) throws InterruptedException {
    try (Kagzi kagzi =
        Kagzi.builder()
            .address(args[0])
            .tokenFile(Path.of(args[1]))
            .tlsCa(Path.of(args[2]))
            .connect()) {
      kagzi
          .worker()
          .workflow(
              GREET,
              (ctx, name) -> {
                String greeting = ctx.step("greet", String.class, () -> "hello " + name);
                ctx.sleep("breathe", "1100ms");
                return greeting;
              })
          .start();
      Thread.currentThread().join();
    }
  }
}
