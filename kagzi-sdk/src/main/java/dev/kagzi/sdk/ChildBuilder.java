package dev.kagzi.sdk;

import java.time.Duration;

/**
 * Starts runs as steps of a run. A child's id follows from its parent and the step's name: however
 * often the parent's code is executed, it starts once.
 *
 * @param <I> input of the child
 * @param <O> output of the child
 */
public interface ChildBuilder<I, O> {
  /** The child's task queue; without it, the queue that its type carries, else the parent's. */
  ChildBuilder<I, O> queue(String queue);

  /** The policy of the child's steps and of the child as a whole: {@link WorkflowStarter#retry}. */
  ChildBuilder<I, O> retry(Retry retry);

  /** How long the child may take: {@link WorkflowStarter#executionTimeout}. */
  ChildBuilder<I, O> executionTimeout(Duration timeout);

  /**
   * Starts the child and goes on. A cancel of the parent reaches the child; the parent's own end
   * does not.
   *
   * @param name of the step
   */
  ChildHandle<O> start(String name, I input);

  /**
   * Starts the child and waits for its result.
   *
   * @throws ChildFailedException if the child has none
   */
  default O run(String name, I input) {
    return start(name, input).result();
  }

  /**
   * Starts a run that goes its own way: nobody waits for it, and a cancel of the parent leaves it
   * alone. It is shown as the parent's child all the same.
   *
   * @return its id
   */
  String startDetached(String name, I input);
}
