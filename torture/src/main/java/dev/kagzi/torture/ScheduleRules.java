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

/** Holds the runs that schedules have made against the slots that they should have had. */
final class ScheduleRules {
  private static final int FETCH = 10_000;

  private final Map<String, PlannedSchedule> plans;
  private final Map<String, List<Long>> expected;
  private final List<String> problems;

  ScheduleRules(
      Map<String, PlannedSchedule> plans, Map<String, List<Long>> expected, List<String> problems) {
    this.plans = plans;
    this.expected = expected;
    this.problems = problems;
  }

  void check(Connection connection) throws SQLException {
    Map<String, List<Long>> fired = fired(connection);
    Map<String, long[]> counts = counts(connection);
    plans.forEach(
        (id, plan) ->
            check(
                plan,
                expected.getOrDefault(id, List.of()),
                fired.getOrDefault(id, List.of()),
                counts.getOrDefault(id, new long[2])));
  }

  void check(PlannedSchedule plan, List<Long> slots, List<Long> fired, long[] counts) {
    String name = plan.name() + " (" + plan.cron() + ", " + plan.zone() + "): ";
    if (new HashSet<>(fired).size() != fired.size()) {
      problems.add(name + "a slot has two runs");
    }
    if (plan.catchesUp() && !fired.equals(slots)) {
      problems.add(name + difference(slots, fired));
    } else if (!new HashSet<>(slots).containsAll(fired)) {
      problems.add(name + difference(slots, fired));
    }
    if (counts[0] != fired.size() || counts[0] + counts[1] != slots.size()) {
      problems.add(
          name
              + "%d runs, counted %d and %d missed, of %d slots"
                  .formatted(fired.size(), counts[0], counts[1], slots.size()));
    }
    if (plan.catchesUp() && counts[1] != 0) {
      problems.add(name + counts[1] + " slots missed although all are caught up with");
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
  private Map<String, List<Long>> fired(Connection connection) throws SQLException {
    Map<String, List<Long>> fired = new HashMap<>();
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.setFetchSize(FETCH);
      try (ResultSet rows =
          statement.executeQuery(
              "SELECT schedule_id::text, extract(epoch FROM fire_at)::bigint, created_at < fire_at"
                  + " FROM kagzi.workflow_runs WHERE schedule_id IS NOT NULL ORDER BY fire_at")) {
        while (rows.next()) {
          String id = rows.getString(1);
          fired.computeIfAbsent(id, key -> new ArrayList<>()).add(rows.getLong(2));
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

  /** Of each schedule how many runs it says it has started, and how many slots it has missed. */
  private static Map<String, long[]> counts(Connection connection) throws SQLException {
    Map<String, long[]> counts = new HashMap<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT run_id::text, total_runs, missed_runs FROM kagzi.workflow_runs WHERE"
                    + " cron_expr IS NOT NULL")) {
      while (rows.next()) {
        counts.put(rows.getString(1), new long[] {rows.getLong(2), rows.getLong(3)});
      }
    }
    return counts;
  }
}
