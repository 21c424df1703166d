package dev.kagzi.engine.query;

/**
 * A version of a type that online workers of a queue serve.
 *
 * @param version {@code *} is any version
 * @param workers how many online workers serve it
 */
public record ServedType(String queue, String type, String version, int workers) {
  /** How many are returned at most. A shorter list is complete. */
  public static final int SERVED_MAX = 1_000;

  private static final String ANY_VERSION = "*";

  /** Returns whether the workers serve a type in a version. */
  public boolean isOf(String otherType, String otherVersion) {
    return type.equals(otherType) && (version.equals(otherVersion) || version.equals(ANY_VERSION));
  }
}
