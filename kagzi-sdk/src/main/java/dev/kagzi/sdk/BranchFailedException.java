package dev.kagzi.sdk;

/**
 * Thrown to workflow code when a branch of {@link WorkflowContext#parallel} failed and the other
 * branches were interrupted, or when all branches of {@link WorkflowContext#race} failed.
 *
 * <p>A workflow may catch it to compensate. {@link WorkFailedException} also covers steps and
 * children.
 */
public final class BranchFailedException extends WorkFailedException {
  private final String branch;

  /** Called by the SDK. */
  public BranchFailedException(String group, String branch, Failure failure) {
    super(
        ClientCode.BRANCH_FAILED,
        "branch %s of %s failed: %s".formatted(branch, group, failure),
        group,
        failure);
    this.branch = branch;
  }

  /**
   * Returns the key of the {@code parallel} or {@code race} call: its name with scope and
   * occurrence.
   */
  public String group() {
    return step();
  }

  /** Returns the name of the branch that failed; its index, from 0, for branches over a list. */
  public String branch() {
    return branch;
  }
}
