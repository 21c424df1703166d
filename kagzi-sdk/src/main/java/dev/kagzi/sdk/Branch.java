package dev.kagzi.sdk;

import dev.kagzi.sdk.internal.run.NameRules;
import java.util.Objects;

/**
 * A named branch of {@link WorkflowContext#parallel} or {@link WorkflowContext#race}.
 *
 * <pre>{@code
 * ctx.parallel("prepare",
 *     Branch.of("stock", branch -> branch.step("reserve", Stock.class, () -> stock.reserve(order))),
 *     Branch.of("payment", branch -> branch.step("charge", Payment.class, () -> cards.charge(order))));
 * }</pre>
 *
 * @param <R> result type
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
   * Creates a branch. Its steps are recorded under its name, so branches may be reordered while
   * runs are open.
   *
   * @param name unique among the branches of the same call
   * @throws InvalidArgumentException if the name is not allowed: the rules are those for names of
   *     steps, and {@code [ ]} are not allowed
   */
  public static <R> Branch<R> of(String name, BranchCode<R> code) {
    return new Branch<>(NameRules.checkBranch(name), code, false);
  }

  /**
   * Returns a copy of this branch that returns its failure as a {@link BranchResult} instead of
   * throwing it. Its failure does not interrupt the other branches.
   *
   * @throws IllegalStateException if this branch is such a copy already
   */
  public Branch<BranchResult<R>> collected() {
    if (collected) {
      throw new IllegalStateException("branch " + name + ": collected twice (expected: once)");
    }
    return new Branch<>(name, code, true);
  }

  /** Returns the branch's name. */
  public String name() {
    return name;
  }

  /** Returns whether a failure of this branch is returned as a result instead of thrown. */
  public boolean isCollected() {
    return collected;
  }

  /** Returns the code that the branch executes. */
  public BranchCode<?> code() {
    return code;
  }
}
