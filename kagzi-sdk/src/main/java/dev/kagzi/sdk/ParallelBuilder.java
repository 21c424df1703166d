package dev.kagzi.sdk;

import java.util.Collection;
import java.util.List;

/** Branches over a list, with options. */
public interface ParallelBuilder {
  /** How many branches are open at once; all of them if not set. */
  ParallelBuilder maxParallel(int branches);

  /**
   * Executes one branch for each item. The first failure interrupts the others and is thrown.
   *
   * @return results in the order of the items
   * @throws BranchFailedException if a branch fails
   */
  <T, R> List<R> each(Collection<? extends T> items, BranchFunction<? super T, ? extends R> code);

  /** Executes one branch for each item, and returns how each of them ended, in their order. */
  <T, R> List<BranchResult<R>> collectAll(
      Collection<? extends T> items, BranchFunction<? super T, ? extends R> code);
}
