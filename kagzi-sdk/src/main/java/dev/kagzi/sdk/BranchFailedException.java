package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/**
 * One of several branches has failed, and the others were interrupted; of a race, all of them have
 * failed. A workflow may catch it and go another way; the failure is recorded, so that a replay
 * sees it again. Uncaught it fails the run.
 */
public final class BranchFailedException extends KagziException {
  private final String group;
  private final String branch;
  private final Failure failure;

  /**
   * Made by the SDK.
   *
   * @param cause what the branch threw, when it threw it in this very process
   */
  public BranchFailedException(
      String group, String branch, Failure failure, @Nullable Throwable cause) {
    super(
        ClientCode.BRANCH_FAILED,
        "branch %s of %s failed: %s".formatted(branch, group, failure),
        cause);
    this.group = group;
    this.branch = branch;
    this.failure = failure;
  }

  /** The name that the branches have together. */
  public String group() {
    return group;
  }

  /** The branch's name; in a list, its place, from 0 on. */
  public String branch() {
    return branch;
  }

  public Failure failure() {
    return failure;
  }
}
