package dev.kagzi.torture;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Compares the runs of schedules with their expected slots. */
final class ScheduleRules {
  private static final int FETCH = 10_000;
  private static final long US_PER_SECOND = 1_000_000;
  private static final long ON_TIME_SECONDS = 1;

  /** With fewer slots, a few faults in a row could have hit all of them. */
  private static final int ON_TIME_SLOTS_MIN = 10;

  private final Map<String, PlannedSchedule> plans;
  private final Map<String, List<Long>> expected;
  private final long lateSeconds;
  private final List<String> problems;

  /**
   * @param lateSeconds a slot that is fired this many seconds after its time, or later, was
   *     certainly late
   * @param problems receives the problems that are found
   */
  ScheduleRules(
      Map<String, PlannedSchedule> plans,
      Map<String, List<Long>> expected,
      long lateSeconds,
      List<String> problems) {
    this.plans = plans;
    this.expected = expected;
    this.lateSeconds = lateSeconds;
    this.problems = problems;
  }

  /**
   * A slot that became a run.
   *
   * @param atUs when; runs of one schedule that were created by one decision have the same time
   */
  record Fired(long slot, long atUs) {
    private boolean isOlderThan(long seconds) {
      return atUs - slot * US_PER_SECOND > seconds * US_PER_SECOND;
    }
  }

  /**
   * The counters of a schedule.
   *
   * @param waiting 1 if a slot waits for the end of a run
   */
  record Counts(long total, long missed, long waiting) {
    static final Counts NONE = new Counts(0, 0, 0);
  }

  void check(Connection connection) throws SQLException {
    check(fired(connection), counts(connection));
  }

  void check(Map<String, List<Fired>> fired, Map<String, Counts> counts) {
    Set<Long> onTime = firedOnTime(fired);
    plans.forEach(
        (id, plan) -> {
          List<Long> slots = expected.getOrDefault(id, List.of());
          List<Fired> runs = fired.getOrDefault(id, List.of());
          check(plan, slots, runs, counts.getOrDefault(id, Counts.NONE));
          if (plan.maxCatchup() == 0 && !plan.mustNotOverlap()) {
            checkOnTime(name(plan), slots, runs, onTime);
          }
        });
  }

  /**
   * The slots at which servers certainly fired: those that the busiest schedule with full catch-up
   * has fired on time. A server decides on due schedules from the newest next slot to the oldest.
   * The busiest schedule has the oldest one, so no other schedule is decided on after it.
   */
  private Set<Long> firedOnTime(Map<String, List<Fired>> fired) {
    List<Fired> most = List.of();
    for (Map.Entry<String, List<Fired>> entry : fired.entrySet()) {
      PlannedSchedule plan = plans.get(entry.getKey());
      boolean isEvidence = plan != null && plan.catchesUp() && !plan.mustNotOverlap();
      if (isEvidence && entry.getValue().size() > most.size()) {
        most = entry.getValue();
      }
    }
    return most.stream()
        .filter(run -> !run.isOlderThan(ON_TIME_SECONDS))
        .map(Fired::slot)
        .collect(Collectors.toSet());
  }

  /**
   * Without catch-up a slot may be missed whenever no server fires. While a server fires, most
   * slots must become runs. Not all, because a fault may occur between this schedule and the one
   * that shows when servers fired.
   */
  private void checkOnTime(String name, List<Long> slots, List<Fired> runs, Set<Long> onTime) {
    long due = slots.stream().filter(onTime::contains).count();
    long fired = runs.stream().filter(run -> onTime.contains(run.slot)).count();
    if (due >= ON_TIME_SLOTS_MIN && 2 * fired < due) {
      problems.add(
          name
              + "%d of %d slots have a run at which another schedule was fired on time (expected: most)"
                  .formatted(fired, due));
    }
  }

  private static String name(PlannedSchedule plan) {
    return plan.name() + " (" + plan.cron() + ", " + plan.zone() + "): ";
  }

  void check(PlannedSchedule plan, List<Long> slots, List<Fired> runs, Counts counts) {
    String name = name(plan);
    List<Long> fired = runs.stream().map(Fired::slot).toList();
    Set<Long> distinct = new HashSet<>(fired);
    if (distinct.size() != fired.size()) {
      problems.add(name + "a slot has two runs");
    }
    boolean everySlot = plan.catchesUp() && !plan.mustNotOverlap();
    if (everySlot ? !fired.equals(slots) : !new HashSet<>(slots).containsAll(fired)) {
      problems.add(name + difference(slots, fired));
    }
    if (counts.total != fired.size()
        || counts.total + counts.missed + counts.waiting != slots.size()) {
      problems.add(
          name
              + "%d runs, counted %d, %d missed and %d waiting, of %d slots"
                  .formatted(
                      fired.size(), counts.total, counts.missed, counts.waiting, slots.size()));
    }
    if (everySlot && counts.missed != 0) {
      problems.add(name + counts.missed + " slots missed although all are caught up");
    }
    if (!plan.mustNotOverlap()) {
      checkCatchUp(name, plan.maxCatchup(), slots, runs);
    }
  }

  /**
   * A late slot becomes a run only if it is among the newest {@code maxCatchup} due slots, and is
   * missed only if it is not. The time of a run is that of its decision. Without catch-up nothing
   * shows when a slot was decided on, so only the fired slots are checked.
   */
  private void checkCatchUp(String name, int maxCatchup, List<Long> slots, List<Fired> runs) {
    checkLate(name, maxCatchup, slots, runs);
    if (maxCatchup == 0) {
      return;
    }
    NavigableMap<Long, Long> decidedUs = new TreeMap<>();
    runs.forEach(run -> decidedUs.put(run.slot, run.atUs));
    for (long slot : slots) {
      if (!decidedUs.containsKey(slot)) {
        // A server decides on slots in order, so it decided on this slot no later than on the next
        // slot that has a run. If no later slot has a run, this slot is among the newest.
        Map.Entry<Long, Long> next = decidedUs.higherEntry(slot);
        int newer =
            next == null
                ? 0
                : countUntil(slots, next.getValue() / US_PER_SECOND) - countUntil(slots, slot);
        if (newer < maxCatchup) {
          problems.add(
              name
                  + "slot %d was missed although only %d newer ones were due, and %d are caught up"
                      .formatted(slot, newer, maxCatchup));
        }
      }
    }
  }

  private void checkLate(String name, int maxCatchup, List<Long> slots, List<Fired> runs) {
    if (slots.size() <= maxCatchup) {
      return;
    }
    List<Fired> wrong =
        runs.stream()
            .filter(run -> run.isOlderThan(lateSeconds))
            .filter(run -> newerWhenFired(slots, run) >= maxCatchup)
            .toList();
    if (!wrong.isEmpty()) {
      Fired first = wrong.getFirst();
      problems.add(
          name
              + "%d slots were fired that were missed, first %d, when %d newer ones were due, although at most %d are caught up"
                  .formatted(wrong.size(), first.slot, newerWhenFired(slots, first), maxCatchup));
    }
  }

  /**
   * The number of slots that are newer than the slot of the run, and were due when it was decided
   * on.
   */
  private static int newerWhenFired(List<Long> slots, Fired run) {
    return countUntil(slots, run.atUs / US_PER_SECOND) - countUntil(slots, run.slot);
  }

  private static int countUntil(List<Long> sorted, long last) {
    int at = Collections.binarySearch(sorted, last);
    return at >= 0 ? at + 1 : -at - 1;
  }

  private static String difference(List<Long> slots, List<Long> fired) {
    List<Long> missing = new ArrayList<>(slots);
    missing.removeAll(new HashSet<>(fired));
    List<Long> unexpected = new ArrayList<>(fired);
    unexpected.removeAll(new HashSet<>(slots));
    return "%d slots without a run, first %s; %d runs without a slot, first %s"
        .formatted(
            missing.size(),
            missing.isEmpty() ? "-" : missing.getFirst(),
            unexpected.size(),
            unexpected.isEmpty() ? "-" : unexpected.getFirst());
  }

  /** Reads the slots of all runs, in order; a run that was created before its slot is a problem. */
  private Map<String, List<Fired>> fired(Connection connection) throws SQLException {
    Map<String, List<Fired>> fired = new HashMap<>();
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.setFetchSize(FETCH);
      try (ResultSet rows =
          statement.executeQuery(
              "SELECT schedule_id::text, extract(epoch FROM fire_at)::bigint, created_at < fire_at,"
                  + " (extract(epoch FROM created_at) * 1000000)::bigint FROM kagzi.workflow_runs"
                  + " WHERE schedule_id IS NOT NULL AND fire_at IS NOT NULL ORDER BY fire_at")) {
        while (rows.next()) {
          String id = rows.getString(1);
          fired
              .computeIfAbsent(id, key -> new ArrayList<>())
              .add(new Fired(rows.getLong(2), rows.getLong(4)));
          if (rows.getBoolean(3)) {
            problems.add("schedule " + id + ": the slot " + rows.getLong(2) + " was fired early");
          }
        }
      }
    } finally {
      connection.setAutoCommit(true);
    }
    return fired;
  }

  private static Map<String, Counts> counts(Connection connection) throws SQLException {
    Map<String, Counts> counts = new HashMap<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT run_id::text, total_runs, missed_runs, (buffered_at IS NOT NULL)::int FROM"
                    + " kagzi.workflow_runs WHERE cron_expr IS NOT NULL")) {
      while (rows.next()) {
        counts.put(
            rows.getString(1), new Counts(rows.getLong(2), rows.getLong(3), rows.getLong(4)));
      }
    }
    return counts;
  }
}
