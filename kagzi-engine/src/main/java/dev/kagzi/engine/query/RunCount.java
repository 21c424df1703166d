package dev.kagzi.engine.query;

/**
 * How many runs match a filter.
 *
 * @param isExact false if there are more: a filter whose runs must be read counts up to {@link
 *     #SCANNED_MAX}
 */
public record RunCount(long runs, boolean isExact) {
  static final int SCANNED_MAX = 10_000;
}
