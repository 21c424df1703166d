package dev.kagzi.sdk;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

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

  /**
   * What the step works on. It is stored with the step, and with it a fingerprint: a replay in
   * which the step is given something else is a changed workflow, and the run waits for the code
   * with which it began.
   */
  StepBuilder input(@Nullable Object input);

  <T> T run(Class<T> type, Callable<? extends T> code);

  <T> T run(TypeRef<T> type, Callable<? extends T> code);

  void run(StepAction code);

  /** As {@code run}, for code that wants to know its attempt or say how far it is. */
  <T> T execute(Class<T> type, StepCode<? extends T> code);

  /** The same for a result that has type parameters. */
  <T> T execute(TypeRef<T> type, StepCode<? extends T> code);
}
