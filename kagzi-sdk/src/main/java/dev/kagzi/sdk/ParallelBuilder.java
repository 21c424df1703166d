package dev.kagzi.sdk;

import java.util.Collection;
import java.util.List;

/** Executes one branch per item of a list: {@link WorkflowContext#parallel(String)}. */
public interface ParallelBuilder {
  /** Sets how many branches are executed at the same time; all of them by default. */
  ParallelBuilder maxParallel(int branches);

  /**
   * Executes one branch for each item. The first failure interrupts the other branches and is
   * thrown.
   *
   * @return results in the order of the items
   * @throws BranchFailedException if a branch fails
   */
  <T, R> List<R> each(Collection<? extends T> items, BranchFunction<? super T, ? extends R> code);

  /**
   * Executes one branch for each item. Failures are returned as results and do not interrupt other
   * branches.
   *
   * @return how each branch ended, in the order of the items
   */
  <T, R> List<BranchResult<R>> collectAll(
      Collection<? extends T> items, BranchFunction<? super T, ? extends R> code);
}
