package dev.kagzi.engine.internal.value;

/**
 * SQL about the end of a sleep. Nothing records that a sleep is over, because each run that wakes
 * up would pay for another update: its row stays RUNNING, and its wake time passes. So a statement
 * that reads the status of a sleep has to compare the wake time.
 */
public final class SleepSql {
  private SleepSql() {}

  /** The condition that {@code row} of {@code step_runs} is a sleep that is over. */
  public static String isOver(String row, String now) {
    return "%1$s.kind = 'SLEEP' AND %1$s.status = 'RUNNING' AND %1$s.due_at <= %2$s"
        .formatted(row, now);
  }

  /** The status of {@code row}: COMPLETED for a sleep that is over. */
  public static String status(String row) {
    return "CASE WHEN %s THEN 'COMPLETED' ELSE %s.status END"
        .formatted(isOver(row, "kagzi.clock()"), row);
  }

  /** The end of {@code row}: the wake time of a sleep that is over, null for an open step. */
  public static String finishedAt(String row) {
    return "CASE WHEN %s THEN %2$s.due_at ELSE %2$s.finished_at END"
        .formatted(isOver(row, "kagzi.clock()"), row);
  }
}
