package dev.kagzi.engine.value;

/**
 * A value that the code of a run publishes under a name.
 *
 * @param scope the branch or step that publishes it, as in step keys; empty outside of them
 * @param sequence which value of this name and scope it is, from 1, counted by the code; the same
 *     in a replay
 * @param order which value of this execution it is, in all scopes, from 1
 */
public record PublishedValue(String name, String scope, long sequence, int order, Payload payload) {
  /** Published values show how far a run is; data belongs into results of steps. */
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
