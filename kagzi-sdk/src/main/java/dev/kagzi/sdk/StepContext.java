package dev.kagzi.sdk;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a step, for its code ({@link StepBuilder#execute}) and for interceptors ({@link
 * WorkerInterceptor#step}).
 */
public interface StepContext {
  /** The id of the run that the step belongs to. */
  String runId();

  /** The name of the run's workflow type. */
  String workflowType();

  /**
   * The step's name as the workflow's code gives it: {@code charge}. It is the same in every branch
   * and occurrence, so it suits a metric; {@link #step} tells single steps apart.
   */
  String name();

  /** The step's name, with its scope and occurrence: {@code pack[2]/charge#2}. */
  String step();

  /** 1 at first; one more for each failure of the step. */
  int attempt();

  /**
   * The same for every attempt of this step in this run, and for no other step: what an external
   * service wants to see, to recognize a call that is made again.
   */
  String idempotencyKey();

  /**
   * Says how far the step is. It is stored now and then, at the latest with the attempt's failure,
   * and given to the next attempt; what was said last before a crash may be missing.
   */
  void heartbeat(@Nullable Object progress);

  /** What an earlier attempt has said last, if any has. */
  <T> Optional<T> lastProgress(Class<T> type);
}
