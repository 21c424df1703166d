package dev.kagzi.engine.internal.value;

/**
 * SQL about the end of a sleep. A claim does not record that a sleep is over, because each run that
 * wakes up would pay for another update: its row stays RUNNING, and its wake time passes. So a
 * statement that reads the status of a sleep has to compare the wake time.
 *
 * <p>In a scope, such as a branch, a sleep is over only when the worker has recorded that. The
 * branch may have been stopped during the sleep. If the sleep ended by time alone, a replay would
 * execute more of the branch's code than was executed before, and register other undos.
 */
public final class SleepSql {
  /** What the key of a step contains if the step is in a scope; names of steps have no slash. */
  public static final String SCOPE_END = "]/";

  private SleepSql() {}

  /** The condition that {@code row} of {@code step_runs} is a sleep that is over by time. */
  public static String isOver(String row, String now) {
    return """
        %1$s.kind = 'SLEEP' AND %1$s.status = 'RUNNING' AND %1$s.due_at <= %2$s
        AND strpos(%1$s.step_id, '%3$s') = 0"""
        .formatted(row, now, SCOPE_END);
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
