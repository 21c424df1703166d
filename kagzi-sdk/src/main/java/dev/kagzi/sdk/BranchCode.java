package dev.kagzi.sdk;

/**
 * The code of a branch. It works with the context that it is given, not with that of the code
 * around it.
 *
 * @param <R> result
 */
@FunctionalInterface
public interface BranchCode<R> {
  /** Executes the branch. */
  R run(WorkflowContext branch) throws Exception;
}
