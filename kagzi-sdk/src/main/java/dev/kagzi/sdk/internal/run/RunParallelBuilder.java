package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.BranchFunction;
import dev.kagzi.sdk.BranchResult;
import dev.kagzi.sdk.ParallelBuilder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Branches over a list, named by their positions. */
final class RunParallelBuilder implements ParallelBuilder {
  private final RunContext context;
  private final String name;
  private int maxParallel = Integer.MAX_VALUE;

  RunParallelBuilder(RunContext context, String name) {
    this.context = context;
    this.name = name;
  }

  @Override
  public ParallelBuilder maxParallel(int branches) {
    if (branches < 1) {
      throw new IllegalArgumentException("maxParallel: " + branches + " (expected: >= 1)");
    }
    this.maxParallel = branches;
    return this;
  }

  @Override
  public <T, R> List<R> each(
      Collection<? extends T> items, BranchFunction<? super T, ? extends R> code) {
    return context.runParallel(name, branches(items, code), maxParallel);
  }

  @Override
  public <T, R> List<BranchResult<R>> collectAll(
      Collection<? extends T> items, BranchFunction<? super T, ? extends R> code) {
    List<Branch<?>> collected = new ArrayList<>(items.size());
    branches(items, code).forEach(branch -> collected.add(branch.collected()));
    return context.runParallel(name, collected, maxParallel);
  }

  private static <T> List<Branch<?>> branches(
      Collection<? extends T> items, BranchFunction<? super T, ?> code) {
    List<Branch<?>> branches = new ArrayList<>(items.size());
    for (T item : items) {
      branches.add(Branch.of(Integer.toString(branches.size()), branch -> code.run(branch, item)));
    }
    return branches;
  }
}
