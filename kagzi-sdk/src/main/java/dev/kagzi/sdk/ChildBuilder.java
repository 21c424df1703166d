package dev.kagzi.sdk;

import java.time.Duration;

/**
 * Starts child runs: {@link WorkflowContext#child}. A child's run id is derived from the parent's
 * run id and the step's key and attempt, so a replay of the parent never starts it a second time.
 * If a child failed, the next attempt of the parent starts a new one.
 *
 * <pre>{@code
 * Receipt receipt = ctx.child(CHARGE).executionTimeout(Duration.ofHours(1)).run("charge", order);
 * }</pre>
 *
 * @param <I> input type of the child
 * @param <O> output type of the child
 */
public interface ChildBuilder<I, O> {
  /**
   * Sets the task queue. Default: the queue of the workflow type or, if that is {@value
   * Kagzi#DEFAULT_QUEUE}, the queue of the parent.
   */
  ChildBuilder<I, O> queue(String queue);

  /** Sets the retry policy of the child and of its steps: {@link WorkflowStarter#retry}. */
  ChildBuilder<I, O> retry(Retry retry);

  /** Sets how long the child may take: {@link WorkflowStarter#executionTimeout}. */
  ChildBuilder<I, O> executionTimeout(Duration timeout);

  /**
   * Adds a header: {@link WorkflowStarter#header}. A child inherits the headers of its parent; a
   * header that is added here replaces an inherited one with the same name.
   */
  ChildBuilder<I, O> header(String name, String value);

  /**
   * Starts the child and returns without waiting for its result. If the parent is cancelled or
   * terminated, so is the child. If the parent completes, fails or times out, the child continues.
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
   * Starts a detached run: the parent cannot wait for it, and it continues if the parent is
   * cancelled or terminated. It is still listed as the parent's child.
   *
   * @return the run's id
   */
  String startDetached(String name, I input);
}
