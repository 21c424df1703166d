package dev.kagzi.sdk;

import java.time.Duration;

/**
 * Starts child runs: {@link WorkflowContext#child}. A child's run id is derived from its parent and
 * the step's name, so a replay of the parent never starts it a second time.
 *
 * <pre>{@code
 * Receipt receipt = ctx.child(CHARGE).executionTimeout(Duration.ofHours(1)).run("charge", order);
 * }</pre>
 *
 * @param <I> input type of the child
 * @param <O> output type of the child
 */
public interface ChildBuilder<I, O> {
  /** Sets the task queue. Default: that of its {@link WorkflowType}, else the parent's. */
  ChildBuilder<I, O> queue(String queue);

  /** Sets the retry policy of the child and of its steps: {@link WorkflowStarter#retry}. */
  ChildBuilder<I, O> retry(Retry retry);

  /** Sets how long the child may take: {@link WorkflowStarter#executionTimeout}. */
  ChildBuilder<I, O> executionTimeout(Duration timeout);

  /**
   * Starts the child and returns without waiting for its result. Cancelling the parent cancels the
   * child; other ends of the parent do not affect it.
   *
   * @param name name of the step that represents the child
   */
  ChildHandle<O> start(String name, I input);

  /**
   * Starts the child and waits for its result.
   *
   * @throws ChildFailedException if the child failed, timed out or was cancelled
   */
  default O run(String name, I input) {
    return start(name, input).result();
  }

  /**
   * Starts a detached run: the parent cannot wait for it, and cancelling the parent does not cancel
   * it. It is still listed as the parent's child.
   *
   * @return the run's id
   */
  String startDetached(String name, I input);
}
