package dev.kagzi.engine.query;

/**
 * How many runs match a filter.
 *
 * @param isExact false if there are more runs than were counted; if the runs of a filter must be
 *     read, at most {@link #SCANNED_MAX} are counted
 */
public record RunCount(long runs, boolean isExact) {
  static final int SCANNED_MAX = 10_000;
}
