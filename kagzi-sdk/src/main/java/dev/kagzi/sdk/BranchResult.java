package dev.kagzi.sdk;

/**
 * The outcome of a branch whose failure does not interrupt the other branches: {@link
 * Branch#collected}, {@link ParallelBuilder#collectAll}.
 *
 * @param <R> result type
 */
public sealed interface BranchResult<R> {
  /** The branch returned a value. */
  record Done<R>(String branch, R value) implements BranchResult<R> {}

  /** The branch failed; the cause is what its code threw, usually a {@link WorkFailedException}. */
  record Failed<R>(String branch, Throwable cause) implements BranchResult<R> {}

  /** Returns the branch's name; its index, from 0, for branches over a list. */
  String branch();

  /** Returns whether the branch returned a value. */
  default boolean isDone() {
    return this instanceof Done;
  }

  /**
   * Returns the branch's result.
   *
   * @throws IllegalStateException if the branch failed; the cause is its failure
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
