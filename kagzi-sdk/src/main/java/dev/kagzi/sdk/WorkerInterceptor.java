package dev.kagzi.sdk;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Intercepts what a worker executes, for example for traces, metrics or thread-local context.
 *
 * <p>Implementations must be thread-safe, must call {@code next} exactly once, and must rethrow
 * what it throws: an {@link Error} may be the one that suspends the run. Return what {@code next}
 * returns; another value replaces the result.
 */
public interface WorkerInterceptor {
  /**
   * Intercepts one execution of a workflow's code. A suspended run is executed again when it
   * continues; {@link WorkflowContext#isReplaying} is then true at the beginning.
   */
  default @Nullable Object run(WorkflowContext ctx, Callable<@Nullable Object> next)
      throws Exception {
    return next.call();
  }

  /**
   * Intercepts one execution of a branch's code, which has its own thread: {@link
   * WorkflowContext#parallel} and {@link WorkflowContext#race}.
   *
   * @param ctx the branch's own context
   */
  default @Nullable Object branch(WorkflowContext ctx, Callable<@Nullable Object> next)
      throws Exception {
    return next.call();
  }

  /** Intercepts one attempt of a step's code; not called if its result is recorded. */
  default @Nullable Object step(StepContext step, Callable<@Nullable Object> next)
      throws Exception {
    return next.call();
  }
}
