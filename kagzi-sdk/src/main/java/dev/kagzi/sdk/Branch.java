package dev.kagzi.sdk;

import dev.kagzi.sdk.internal.run.NameRules;
import java.util.Objects;

/**
 * One of several things that a workflow does at the same time: {@link WorkflowContext#parallel} and
 * {@link WorkflowContext#race}.
 *
 * @param <R> result
 */
public final class Branch<R> {
  private final String name;
  private final BranchCode<?> code;
  private final boolean collected;

  private Branch(String name, BranchCode<?> code, boolean collected) {
    this.name = name;
    this.code = Objects.requireNonNull(code, "code");
    this.collected = collected;
  }

  /**
   * A branch with a name that no other branch beside it has. Its steps are recorded under that
   * name, so that branches may be reordered while runs are open.
   */
  public static <R> Branch<R> of(String name, BranchCode<R> code) {
    return new Branch<>(NameRules.checkBranch(name), code, false);
  }

  /**
   * The same branch, which tells of a failure in its result instead of ending the branches beside
   * it.
   */
  public Branch<BranchResult<R>> collected() {
    return new Branch<>(name, code, true);
  }

  public String name() {
    return name;
  }

  /** Of which a failure is a result. */
  public boolean isCollected() {
    return collected;
  }

  /** What the branch executes. */
  public BranchCode<?> code() {
    return code;
  }
}
