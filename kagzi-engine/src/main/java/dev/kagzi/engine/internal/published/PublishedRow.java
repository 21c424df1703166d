package dev.kagzi.engine.internal.published;

import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import org.jspecify.annotations.Nullable;

/**
 * The last value that one scope of a run has published under a name.
 *
 * @param scope the branch or step, as in step keys; empty outside of them
 * @param runAttempt the attempt of the run that has published it
 * @param sequence which value of this name and scope it is in that attempt
 * @param version orders the values of all scopes
 * @param isCurrent false if another scope has published a later value of the name; then the row has
 *     no value
 * @param bytes the size of the value
 * @param payload null if the row has no value, or was only read to decide
 */
public record PublishedRow(
    RunId runId,
    String name,
    String scope,
    int runAttempt,
    long sequence,
    long version,
    boolean isCurrent,
    int bytes,
    @Nullable Payload payload) {

  /**
   * Returns a version that orders the values of one claim, and that is higher than all versions of
   * earlier claims.
   */
  public static long version(int epoch, int order) {
    return ((long) epoch << Integer.SIZE) + order;
  }

  boolean isAfter(PublishedRow other) {
    return runAttempt == other.runAttempt
        ? sequence > other.sequence
        : runAttempt > other.runAttempt;
  }

  /**
   * Returns this row without its value, because another scope has published a later value of the
   * name.
   */
  PublishedRow superseded() {
    return new PublishedRow(runId, name, scope, runAttempt, sequence, version, false, 0, null);
  }
}
