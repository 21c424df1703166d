package dev.kagzi.sdk;

/**
 * How one of several branches ended, where a failure of one does not end the others.
 *
 * @param <R> result of a branch that ended well
 */
public sealed interface BranchResult<R> {
  /** The branch ended well. */
  record Done<R>(String branch, R value) implements BranchResult<R> {}

  /**
   * The branch failed.
   *
   * @param cause what its code threw; a {@link WorkFailedException}, mostly
   */
  record Failed<R>(String branch, Throwable cause) implements BranchResult<R> {}

  /** The branch's name; in a list, its place. */
  String branch();

  /** Whether the branch ended well. */
  default boolean isDone() {
    return this instanceof Done;
  }

  /**
   * The branch's result.
   *
   * @throws IllegalStateException if it failed, with the failure as its cause
   */
  default R value() {
    return switch (this) {
      case Done<R> done -> done.value;
      case Failed<R> failed ->
          throw new IllegalStateException(
              "branch %s: failed (expected: a result)".formatted(failed.branch), failed.cause);
    };
  }
}
