package dev.kagzi.torture;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.KagziException;
import dev.kagzi.sdk.Overlap;
import dev.kagzi.sdk.Schedule;
import dev.kagzi.sdk.ScheduleInfo;
import dev.kagzi.sdk.WorkflowType;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * Schedules as part of the load: some fire every few seconds, one is triggered by a client.
 * Afterwards each slot must be one run or be counted as missed, and each trigger one run.
 * Thread-safe.
 */
final class ScheduledLoad implements AutoCloseable {
  /**
   * The type of the scheduled runs. It has no steps, because only the number of runs is checked.
   */
  static final WorkflowType<String, String> TYPE =
      WorkflowType.of("scheduled", String.class, String.class).queue(Scenario.QUEUE);

  private static final Duration CALL_MAX = Duration.ofSeconds(60);
  private static final Duration BETWEEN_TRIGGERS = Duration.ofMillis(200);
  private static final int FEW_CAUGHT_UP = 3;

  /**
   * No fault stops all servers for this long, so a slot that fires later than this is not on time.
   */
  private static final long LATE_SECONDS = 15;

  /** All servers run when the schedules stop, so that no older slot is undecided. */
  private static final long UNDECIDED_SECONDS_MAX = 20;

  private static final String TRIGGERED = "triggered";

  private final Kagzi kagzi;
  private final Map<String, PlannedSchedule> plans = new HashMap<>();
  private final Map<String, Long> firstSlots = new HashMap<>();
  private final Queue<String> triggered = new ConcurrentLinkedQueue<>();
  private final Queue<String> errors = new ConcurrentLinkedQueue<>();
  private final Thread triggering;
  private volatile boolean stopped;
  private volatile long stoppedSecond;

  private ScheduledLoad(Kagzi kagzi) {
    this.kagzi = kagzi;
    create(1, PlannedSchedule.ALL_CAUGHT_UP);
    create(2, 0);
    create(5, FEW_CAUGHT_UP);
    kagzi.schedule(TRIGGERED).workflow(TYPE).cron("@yearly").input(TRIGGERED).create();
    this.triggering = Thread.ofVirtual().name("trigger").start(this::trigger);
  }

  static ScheduledLoad start(String addresses) {
    return new ScheduledLoad(Kagzi.builder().address(addresses).callTimeout(CALL_MAX).connect());
  }

  private void create(int everySeconds, int maxCatchup) {
    PlannedSchedule plan =
        PlannedSchedule.everySeconds("every-" + everySeconds, everySeconds, maxCatchup);
    ScheduleInfo made =
        kagzi
            .schedule(plan.name())
            .workflow(TYPE)
            .cron(plan.cron())
            .input(plan.name())
            .overlap(Overlap.ALLOW)
            .maxCatchup(maxCatchup)
            .create();
    plans.put(made.id(), plan);
    firstSlots.put(made.id(), made.nextFireAt().orElseThrow().getEpochSecond());
  }

  private void trigger() {
    Schedule schedule = kagzi.schedule(TRIGGERED);
    while (!stopped) {
      try {
        triggered.add(schedule.trigger());
      } catch (KagziException e) {
        errors.add("a trigger was not answered: " + e);
      }
      Pause.ofUnchecked(BETWEEN_TRIGGERS);
    }
  }

  /** Stops firing and triggering. */
  void stop() {
    if (stopped) {
      return;
    }
    stopped = true;
    try {
      triggering.join();
      stoppedSecond = Instant.now().getEpochSecond();
      plans.values().forEach(plan -> kagzi.schedule(plan.name()).pause());
    } catch (InterruptedException e) {
      throw TortureException.interrupted(e);
    } catch (KagziException e) {
      errors.add("a schedule was not paused: " + e);
    }
  }

  /** Returns the problems of the runs in the tables. */
  List<String> problems(Connection connection) throws SQLException {
    List<String> problems = new ArrayList<>(errors);
    Map<String, List<Long>> expected = new HashMap<>();
    Map<String, Long> nextSlots = nextSlots(connection);
    nextSlots.forEach((id, next) -> expected.put(id, slots(id, next)));
    plans.forEach(
        (id, plan) -> checkDecided(plan.name(), nextSlots.get(id), stoppedSecond, problems));
    new ScheduleRules(plans, expected, LATE_SECONDS, problems).check(connection);
    checkTriggered(new HashSet<>(triggered), runsOf(connection), problems);
    return problems;
  }

  /** Returns the slots before the next one. Servers have decided on all of them. */
  private List<Long> slots(String id, long next) {
    List<Long> slots = new ArrayList<>();
    PlannedSchedule plan = plans.get(id);
    if (plan != null) {
      for (long second = firstSlots.getOrDefault(id, next); second < next; second++) {
        if (plan.seconds().contains((int) (second % 60))) {
          slots.add(second);
        }
      }
    }
    return slots;
  }

  /**
   * Checks that servers kept deciding on slots. Otherwise {@link ScheduleRules} has no slots to
   * check and finds no problem.
   *
   * @param next the first slot that is not decided on; null if there is none
   */
  static void checkDecided(
      String name, @Nullable Long next, long stoppedSecond, List<String> problems) {
    if (next == null) {
      problems.add(name + ": no next slot (expected: one, of a schedule without an end)");
    } else if (next < stoppedSecond - UNDECIDED_SECONDS_MAX) {
      problems.add(
          "%s: slot %d was not decided on when the schedules stopped, %d s later (expected: within %d s)"
              .formatted(name, next, stoppedSecond - next, UNDECIDED_SECONDS_MAX));
    }
  }

  /** A trigger that was sent again must not have created a second run. */
  static void checkTriggered(Set<String> acknowledged, List<String> runs, List<String> problems) {
    if (acknowledged.isEmpty()) {
      problems.add("no trigger was ever answered");
    }
    if (runs.size() != acknowledged.size() || !acknowledged.containsAll(runs)) {
      problems.add(
          "%d triggers were answered, and %d runs exist"
              .formatted(acknowledged.size(), runs.size()));
    }
  }

  private static Map<String, Long> nextSlots(Connection connection) throws SQLException {
    Map<String, Long> next = new HashMap<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT run_id::text, extract(epoch FROM fire_at)::bigint FROM kagzi.workflow_runs"
                    + " WHERE cron_expr IS NOT NULL AND fire_at < 'infinity'")) {
      while (rows.next()) {
        next.put(rows.getString(1), rows.getLong(2));
      }
    }
    return next;
  }

  private static List<String> runsOf(Connection connection) throws SQLException {
    List<String> runs = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery(
                "SELECT run_id::text FROM kagzi.workflow_runs WHERE schedule_id IS NOT NULL AND"
                    + " fire_at IS NULL")) {
      while (rows.next()) {
        runs.add(rows.getString(1));
      }
    }
    return runs;
  }

  @Override
  public void close() {
    stopped = true;
    kagzi.close();
  }
}
