package dev.kagzi.sdk;

/**
 * A started child run. Only the code of its parent run may use it: the workflow's code or that of
 * its branches.
 *
 * @param <O> output type
 */
public interface ChildHandle<O> {
  /** Returns the key of the step that represents the child: {@code pay}, {@code pay#2}. */
  String step();

  /** Returns the child's run id. */
  String runId();

  /**
   * Waits for the child's result. The parent is suspended meanwhile and uses no slot and no thread,
   * unless other branches of it are working.
   *
   * @throws ChildFailedException if the child failed, timed out or was cancelled
   */
  O result();
}
