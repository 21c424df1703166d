package dev.kagzi.sdk;

/**
 * One of several branches has failed, and the others were interrupted; of a race, all of them have
 * failed. A workflow may catch it and go another way; {@link WorkFailedException} also covers steps
 * and children.
 */
public final class BranchFailedException extends WorkFailedException {
  private final String branch;

  /** Made by the SDK. */
  public BranchFailedException(String group, String branch, Failure failure) {
    super(
        ClientCode.BRANCH_FAILED,
        "branch %s of %s failed: %s".formatted(branch, group, failure),
        group,
        failure);
    this.branch = branch;
  }

  /** The name that the branches have together. */
  public String group() {
    return step();
  }

  /** The branch's name; in a list, its place, from 0 on. */
  public String branch() {
    return branch;
  }
}
