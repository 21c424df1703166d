package dev.kagzi.engine.query;

import dev.kagzi.engine.value.RunId;
import java.time.Instant;
import java.util.List;

/**
 * What happens in a namespace now, what happened in the last hour, and what happens next. The
 * numbers of the current minute are some seconds late.
 *
 * @param queues those with the most pending runs; the number is limited
 * @param minutes one entry for each minute of the last hour, oldest first
 * @param types of runs that started or ended in the last hour, most failures first; the number is
 *     limited
 * @param blocked runs that the code of their workers cannot continue
 * @param crashing runs that have lost two or more workers in a row, those with the most first; at
 *     most {@link #CRASHING_MAX}
 * @param disabled all disabled namespaces that have due runs; the number is limited
 * @param served what the online workers serve; the number is limited
 * @param slots of all online workers that have a limit and report their load
 * @param slotsFree how many more runs these workers could take at their last heartbeats
 * @param nextSchedules the schedules that fire next, soonest first; the number is limited
 */
public record Activity(
    Stats stats,
    List<QueueView> queues,
    List<Minute> minutes,
    List<TypeRate> types,
    RunCount blocked,
    List<Crashing> crashing,
    List<DisabledNamespace> disabled,
    List<ServedType> served,
    long slots,
    long slotsFree,
    List<DueSchedule> nextSchedules) {

  static final int MINUTES = 60;
  static final int QUEUES_MAX = 20;
  static final int TYPES_MAX = 20;
  static final int SCHEDULES_MAX = 8;

  /** How many crashing runs are returned. */
  public static final int CRASHING_MAX = 100;

  /**
   * One minute.
   *
   * @param failed runs that failed or timed out
   */
  public record Minute(Instant at, long started, long completed, long failed) {}

  /**
   * A type in the last hour.
   *
   * @param failed runs that failed or timed out
   */
  public record TypeRate(String type, long started, long completed, long failed) {

    /** Returns the share of failed runs among those that completed or failed; 0 to 100. */
    public double failedPercent() {
      return failed == 0 ? 0 : 100.0 * failed / (completed + failed);
    }
  }

  /** A run, and how many workers it has lost in a row. */
  public record Crashing(RunId runId, int crashes) {}

  /** A disabled namespace with due runs, and how long the first of them has waited. */
  public record DisabledNamespace(String namespace, RunCount due, long oldestDueMs) {}

  /** A schedule and when it fires next. */
  public record DueSchedule(RunId id, String name, String type, Instant nextFireAt) {}

  public Activity {
    queues = List.copyOf(queues);
    minutes = List.copyOf(minutes);
    types = List.copyOf(types);
    crashing = List.copyOf(crashing);
    disabled = List.copyOf(disabled);
    served = List.copyOf(served);
    nextSchedules = List.copyOf(nextSchedules);
  }
}
