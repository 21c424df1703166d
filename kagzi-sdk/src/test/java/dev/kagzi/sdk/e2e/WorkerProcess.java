package dev.kagzi.sdk.e2e;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A program that is only a worker: address and queue are arguments, and a signal ends it. */
final class WorkerProcess {
  private WorkerProcess() {}

  public static void main(String[] args) throws InterruptedException {
    WorkflowType<String, String> type =
        WorkflowType.of("greet", String.class, String.class).queue(args[1]);
    try (Kagzi kagzi = Kagzi.connect(args[0])) {
      Worker worker =
          kagzi
              .worker()
              .workflow(
                  type,
                  (ctx, millis) ->
                      ctx.step(
                          "slow",
                          String.class,
                          () -> {
                            System.out.println("running");
                            boolean ended =
                                new CountDownLatch(1)
                                    .await(Long.parseLong(millis), TimeUnit.MILLISECONDS);
                            return "finished " + !ended;
                          }))
              .drainTimeout(Duration.ofSeconds(4))
              .start();
      worker.awaitTermination();
    }
  }
}
