package dev.kagzi.sdk;

/**
 * The code of a {@link Branch}. It must use the context that it receives, not the context of the
 * surrounding workflow code.
 *
 * @param <R> result type
 */
@FunctionalInterface
public interface BranchCode<R> {
  /** Executes the branch and returns its result. An exception fails the branch. */
  R run(WorkflowContext branch) throws Exception;
}
