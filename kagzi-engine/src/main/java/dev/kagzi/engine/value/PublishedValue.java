package dev.kagzi.engine.value;

/**
 * A value that the code of a run publishes under a name.
 *
 * @param scope the branch or step that publishes it, as in step keys; empty outside of them
 * @param sequence the number of the value among those of this name and scope, counted from 1 by the
 *     worker; the same in a replay
 * @param order the number of the value among all values of this execution, in all scopes, counted
 *     from 1
 */
public record PublishedValue(String name, String scope, long sequence, int order, Payload payload) {
  /**
   * The size of one value. Published values show the progress of a run; larger data belongs in the
   * results of steps.
   */
  public static final int BYTES_MAX = 64 << 10;

  /** The sum of a run's values. The SDK allows half of it to the code, and half to its steps. */
  public static final int RUN_BYTES_MAX = 2 << 20;

  /**
   * Names of one run; a name counts once for each scope that publishes it. The SDK allows half of
   * them to the code, and half to its steps.
   */
  public static final int RUN_NAMES_MAX = 2_000;

  public int bytes() {
    return name.length() + scope.length() + payload.bytes();
  }
}
