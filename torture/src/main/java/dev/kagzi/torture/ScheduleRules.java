package dev.kagzi.torture;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Holds the runs that schedules have made against the slots that they should have had. */
final class ScheduleRules {
  private static final int FETCH = 10_000;
  private static final long US_PER_SECOND = 1_000_000;

  private final Map<String, PlannedSchedule> plans;
  private final Map<String, List<Long>> expected;
  private final long lateSeconds;
  private final List<String> problems;

  /**
   * @param lateSeconds a slot that is older cannot have been on time, however busy the servers are
   * @param problems those that are found are added
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
   * @param atUs when; runs of one schedule that were made by one decision have the same time
   */
  record Fired(long slot, long atUs) {
    private boolean isOlderThan(long seconds) {
      return atUs - slot * US_PER_SECOND > seconds * US_PER_SECOND;
    }
  }

  /**
   * What a schedule says of itself.
   *
   * @param waiting 1 when a slot waits for the end of a run
   */
  record Counts(long total, long missed, long waiting) {
    static final Counts NONE = new Counts(0, 0, 0);
  }

  void check(Connection connection) throws SQLException {
    Map<String, List<Fired>> fired = fired(connection);
    Map<String, Counts> counts = counts(connection);
    plans.forEach(
        (id, plan) ->
            check(
                plan,
                expected.getOrDefault(id, List.of()),
                fired.getOrDefault(id, List.of()),
                counts.getOrDefault(id, Counts.NONE)));
  }

  void check(PlannedSchedule plan, List<Long> slots, List<Fired> made, Counts counts) {
    String name = plan.name() + " (" + plan.cron() + ", " + plan.zone() + "): ";
    List<Long> fired = made.stream().map(Fired::slot).toList();
    Set<Long> distinct = new HashSet<>(fired);
    if (distinct.size() != fired.size()) {
      problems.add(name + "a slot has two runs");
    }
    boolean everySlot = plan.catchesUp() && !plan.isApart();
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
      problems.add(name + counts.missed + " slots missed although all are caught up with");
    }
    if (!plan.isApart()) {
      checkCatchUp(name, plan.maxCatchup(), slots, made);
    }
  }

  /**
   * A decision makes runs of at most {@code maxCatchup} slots that are late, and those are the
   * newest: a slot is missed only if as many newer ones were caught up with. Without catch-up
   * nothing shows when a slot was decided on, and only what became a run is looked at.
   */
  private void checkCatchUp(String name, int maxCatchup, List<Long> slots, List<Fired> made) {
    NavigableMap<Long, List<Fired>> decisions = new TreeMap<>();
    made.forEach(run -> decisions.computeIfAbsent(run.atUs, at -> new ArrayList<>()).add(run));
    decisions.forEach(
        (at, runs) -> {
          List<Fired> late = runs.stream().filter(run -> run.isOlderThan(lateSeconds)).toList();
          if (late.size() > maxCatchup) {
            problems.add(
                name
                    + "%d slots were fired at once that were missed, first %d, although at most %d are caught up with"
                        .formatted(late.size(), late.getFirst().slot, maxCatchup));
          }
        });
    if (maxCatchup == 0) {
      return;
    }
    NavigableSet<Long> fired = new TreeSet<>();
    made.forEach(run -> fired.add(run.slot));
    for (long slot : slots) {
      Long at = decisions.ceilingKey(slot * US_PER_SECOND);
      if (!fired.contains(slot) && at != null) {
        int newer = fired.subSet(slot, false, at / US_PER_SECOND, true).size();
        if (newer < maxCatchup) {
          problems.add(
              name
                  + "slot %d was missed although only %d newer ones were caught up with, of at most %d"
                      .formatted(slot, newer, maxCatchup));
        }
      }
    }
  }

  private static String difference(List<Long> slots, List<Long> fired) {
    List<Long> missing = new ArrayList<>(slots);
    missing.removeAll(new HashSet<>(fired));
    List<Long> strange = new ArrayList<>(fired);
    strange.removeAll(new HashSet<>(slots));
    return "%d slots without a run, first %s; %d runs without a slot, first %s"
        .formatted(
            missing.size(),
            missing.isEmpty() ? "-" : missing.getFirst(),
            strange.size(),
            strange.isEmpty() ? "-" : strange.getFirst());
  }

  /** The slots of all runs, in order; a run that was created before its slot is told of. */
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
