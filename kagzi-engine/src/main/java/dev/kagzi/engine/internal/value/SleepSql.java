package dev.kagzi.engine.internal.value;

import org.jspecify.annotations.Nullable;

/**
 * SQL about the end of a sleep. A claim does not record that a sleep is over, because each run that
 * wakes up would pay for another update: its row stays RUNNING, and its wake time passes. So a
 * statement that reads the status of a sleep has to compare the wake time.
 *
 * <p>In a scope, such as a branch, a sleep is over only when the worker has recorded that. The
 * branch may have been stopped during the sleep. If the sleep ended by time alone, a replay would
 * execute more of the branch's code than was executed before, and register other undos.
 *
 * <p>Simple clients have no scopes. If a name that they gave to a step looks like a key in a scope,
 * the row has this name.
 */
public final class SleepSql {
  private static final String SCOPE_END = "]/";

  private SleepSql() {}

  /**
   * Whether the step of a row of {@code step_runs} is in a scope.
   *
   * @param name the row's name, which is null unless a simple client began the step
   */
  public static boolean isInScope(String stepKey, @Nullable String name) {
    return name == null && stepKey.contains(SCOPE_END);
  }

  /** The condition that {@code row} of {@code step_runs} is a sleep that is over by time. */
  public static String isOver(String row, String now) {
    return """
        %1$s.kind = 'SLEEP' AND %1$s.status = 'RUNNING' AND %1$s.due_at <= %2$s
        AND (strpos(%1$s.step_id, '%3$s') = 0 OR %1$s.name IS NOT NULL)"""
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
