package dev.kagzi.engine.query;

/**
 * A version of a type that online workers of a queue serve.
 *
 * @param version {@code *} is any version
 * @param workers how many online workers serve it
 */
public record ServedType(String queue, String type, String version, int workers) {
  static final int SERVED_MAX = 1_000;
}
