package dev.kagzi.sdk;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Stands around what a worker executes: for traces, metrics, and what threads carry with them. Must
 * be thread-safe, must call {@code next} once, and must pass on what that throws; an {@link Error}
 * may be the SDK's own.
 */
public interface WorkerInterceptor {
  /**
   * Around one execution of a workflow's code. A run that goes on after a pause is executed again:
   * {@link WorkflowContext#isReplaying} says so at first.
   */
  default @Nullable Object run(WorkflowContext ctx, Callable<@Nullable Object> next)
      throws Exception {
    return next.call();
  }

  /**
   * Around one execution of a branch's code, which has a thread of its own: {@link
   * WorkflowContext#parallel} and {@link WorkflowContext#race}.
   *
   * @param ctx the branch's own
   */
  default @Nullable Object branch(WorkflowContext ctx, Callable<@Nullable Object> next)
      throws Exception {
    return next.call();
  }

  /** Around one attempt of a step's code; not around a result that is on record. */
  default @Nullable Object step(StepContext step, Callable<@Nullable Object> next)
      throws Exception {
    return next.call();
  }
}
