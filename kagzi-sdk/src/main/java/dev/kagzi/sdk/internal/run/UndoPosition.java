package dev.kagzi.sdk.internal.run;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Where the code of a run registers an undo. It depends only on the code, and not on timing, so it
 * is the same in every execution. Immutable.
 */
final class UndoPosition implements Comparable<UndoPosition> {
  static final UndoPosition START = new UndoPosition(new int[0]);

  private final int[] path;

  private UndoPosition(int[] path) {
    this.path = path;
  }

  /** Returns the position of a branch of the group that this code requests with its n-th call. */
  UndoPosition inBranch(int call, int index) {
    return append(call, 0, index);
  }

  /** Returns a position behind the n-th call of this code, and behind the branches of that call. */
  UndoPosition after(int call, int undo) {
    return append(call, 1, undo);
  }

  private UndoPosition append(int... more) {
    return new UndoPosition(IntStream.concat(Arrays.stream(path), Arrays.stream(more)).toArray());
  }

  @Override
  public int compareTo(UndoPosition other) {
    return Arrays.compare(path, other.path);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof UndoPosition position && Arrays.equals(path, position.path);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(path);
  }
}
