package dev.kagzi.sdk;

import java.util.concurrent.Callable;

/** A step with options of its own; {@code run} executes it or returns its recorded result. */
public interface StepBuilder {
  /** Goes before the policy of the run's start and the server's default. */
  StepBuilder retry(Retry retry);

  <T> T run(Class<T> type, Callable<? extends T> code);

  <T> T run(TypeRef<T> type, Callable<? extends T> code);

  void run(StepAction code);
}
