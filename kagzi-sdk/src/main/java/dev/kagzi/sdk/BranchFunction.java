package dev.kagzi.sdk;

/**
 * The code of branches that differ in what they work on.
 *
 * @param <T> what one branch works on
 * @param <R> result
 */
@FunctionalInterface
public interface BranchFunction<T, R> {
  /** Executes the branch of one item, with the branch's own context. */
  R run(WorkflowContext branch, T item) throws Exception;
}
