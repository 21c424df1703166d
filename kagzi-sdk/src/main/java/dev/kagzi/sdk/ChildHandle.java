package dev.kagzi.sdk;

/**
 * A child of a run, to be used by the run's own code: the workflow's, or that of its branches.
 *
 * @param <O> output
 */
public interface ChildHandle<O> {
  /** The step that the child is, in the order of occurrence: {@code pay}, {@code pay#2}. */
  String step();

  /** The child's run id. */
  String runId();

  /**
   * Waits for the child's result. Meanwhile the parent takes no slot and no thread, unless branches
   * beside this one are at work.
   *
   * @throws ChildFailedException if the child has none: it failed, was cancelled, or timed out
   */
  O result();
}
