package dev.kagzi.sdk;

import java.time.Duration;
import java.util.concurrent.Callable;

/** A step with options of its own; {@code run} executes it or returns its recorded result. */
public interface StepBuilder {
  /** Goes before the policy of the run's start and the server's default. */
  StepBuilder retry(Retry retry);

  /**
   * How long one attempt may take; without it, what the start said ({@link
   * WorkflowStarter#stepTimeout}), else the server's default of ten minutes.
   *
   * <p>Then the step's code is interrupted and the attempt has failed with {@link
   * ErrorKind#TIMEOUT}, which is retried like any other failure; what the code returns after that
   * does not count. Code that ignores its interrupt is left behind a second later: the run goes on
   * elsewhere, while the thread keeps its slot until it ends ({@link Worker#stuckCount}).
   */
  StepBuilder timeout(Duration timeout);

  <T> T run(Class<T> type, Callable<? extends T> code);

  <T> T run(TypeRef<T> type, Callable<? extends T> code);

  void run(StepAction code);
}
