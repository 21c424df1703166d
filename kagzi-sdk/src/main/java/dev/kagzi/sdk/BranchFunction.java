package dev.kagzi.sdk;

/**
 * The code that is executed for each item of {@link WorkflowContext#parallel(String,
 * java.util.Collection, BranchFunction)}.
 *
 * @param <T> item type
 * @param <R> result type
 */
@FunctionalInterface
public interface BranchFunction<T, R> {
  /** Executes the branch of one item. An exception fails the branch. */
  R run(WorkflowContext branch, T item) throws Exception;
}
