package dev.kagzi.bench;

import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Schedule;
import dev.kagzi.sdk.WorkflowType;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Measures how late schedules fire when thousands are due in the same second, and what idle
 * schedules cost: the CPU use of one schedule that fires every second, alone and among the idle
 * ones.
 */
final class ScheduleBench {
  static final int SCHEDULES_DEFAULT = 10_000;

  private static final int CREATORS = 8;
  private static final Duration MEASURED = Duration.ofSeconds(10);
  private static final Duration AHEAD = Duration.ofSeconds(5);
  private static final Duration ALL_MAX = Duration.ofSeconds(60);
  private static final Duration BETWEEN_QUERIES = Duration.ofMillis(50);
  private static final WorkflowType<String, String> TYPE =
      WorkflowType.of("bench-scheduled", String.class, String.class).queue("bench-schedules");

  private static final String ALL_FIRED =
      " FROM kagzi.workflow_runs r JOIN kagzi.workflow_runs t ON t.run_id = r.schedule_id WHERE"
          + " t.schedule_name LIKE 'idle-%'";
  private static final String EARLY = " AND r.created_at < r.fire_at";

  // Counts the schedules whose runs are not committed yet. The created_at of a run does not show
  // this: it is when the transaction of the run began.
  private static final String UNFIRED =
      "SELECT count(*), (extract(epoch FROM clock_timestamp() - ?::timestamptz) * 1000)::bigint"
          + " FROM kagzi.workflow_runs WHERE cron_expr IS NOT NULL AND status = 'SCHEDULED' AND"
          + " available_at = ?::timestamptz";

  private final KagziContender contender;
  private final Kagzi kagzi;
  private final Progress progress;
  private final int count;

  ScheduleBench(KagziContender contender, Progress progress, int count) {
    this.contender = contender;
    this.kagzi = contender.kagzi();
    this.progress = progress;
    this.count = count;
  }

  Map<String, @Nullable Object> measure() {
    Map<String, @Nullable Object> figures = new LinkedHashMap<>();
    figures.put("scenario", Scenario.SCHEDULES.name());
    figures.put("schedules", count);
    Schedule every = kagzi.schedule("every-second");
    every.workflow(TYPE).cron("* * * * * *").input("tick").create();
    pause(MEASURED);
    print("one of every second, alone");
    double alone = cores();
    print("creating " + count + " that are idle");
    createAll();
    contender.database().vacuum();
    print("one of every second, among the idle");
    double among = cores();
    every.delete();
    fireAll(figures);
    figures.put("tick_cores_alone", Figures.rounded(alone));
    figures.put("tick_cores_among_idle", Figures.rounded(among));
    return figures;
  }

  /** The cores that server and PostgreSQL use for one tick a second. */
  private double cores() {
    CpuWatch watch = new CpuWatch(contender);
    pause(MEASURED);
    CpuWatch.Cores cores = watch.cores();
    return cores.server().orElse(0) + cores.postgres().orElse(0);
  }

  private void createAll() {
    try (ExecutorService creators = Executors.newFixedThreadPool(CREATORS)) {
      List<Future<?>> made = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String name = "idle-" + i;
        made.add(
            creators.submit(
                () -> kagzi.schedule(name).workflow(TYPE).cron("@yearly").input(name).create()));
      }
      for (Future<?> each : made) {
        each.get();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    } catch (ExecutionException e) {
      throw new BenchException("a schedule was not created: " + e.getCause(), e);
    }
  }

  /** Fires all schedules in the same second. */
  private void fireAll(Map<String, @Nullable Object> figures) {
    DatabaseConfig config = contender.database().config();
    try (Connection connection =
            DriverManager.getConnection(config.jdbcUrl(), config.user(), config.password());
        Statement statement = connection.createStatement()) {
      print("all of them in the same second");
      String slot =
          text(
              statement,
              "SELECT date_trunc('second', now()) + interval '%d seconds'"
                  .formatted(AHEAD.toSeconds()));
      statement.execute(
          "UPDATE kagzi.workflow_runs SET fire_at = s.at, available_at = s.at FROM (SELECT"
              + " timestamptz '%s' AS at) AS s WHERE cron_expr IS NOT NULL".formatted(slot));
      statement.execute(
          "SELECT pg_notify('kagzi_work', '00000000-0000-0000-0000-000000000000' || chr(10) || '*')");
      awaitAll(connection, slot, figures);
      figures.put("late_p50_ms", late(statement, "percentile_cont(0.5)"));
      figures.put("late_p99_ms", late(statement, "percentile_cont(0.99)"));
      figures.put("late_max_ms", late(statement, "percentile_cont(1)"));
      figures.put("early", number(statement, "SELECT count(*)" + ALL_FIRED + EARLY));
    } catch (SQLException e) {
      throw new BenchException("the database: " + e.getMessage(), e);
    }
  }

  private void awaitAll(Connection connection, String slot, Map<String, @Nullable Object> figures)
      throws SQLException {
    long giveUpNanos = System.nanoTime() + ALL_MAX.toNanos();
    try (PreparedStatement query = connection.prepareStatement(UNFIRED)) {
      query.setString(1, slot);
      query.setString(2, slot);
      for (long left = count; left > 0; ) {
        if (System.nanoTime() - giveUpNanos > 0) {
          throw new BenchException("not all fired within " + ALL_MAX.toSeconds() + " s");
        }
        pause(BETWEEN_QUERIES);
        try (ResultSet row = query.executeQuery()) {
          row.next();
          left = row.getLong(1);
          if (left <= count / 2) {
            figures.putIfAbsent("seen_half_ms", row.getLong(2));
          }
          figures.put("seen_all_ms", row.getLong(2));
        }
      }
    }
  }

  private static String text(Statement statement, String sql) throws SQLException {
    try (ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    }
  }

  private static @Nullable Double late(Statement statement, String what) throws SQLException {
    return (double)
        number(
            statement,
            "SELECT ("
                + what
                + " WITHIN GROUP (ORDER BY extract(epoch FROM r.created_at - r.fire_at)) *"
                + " 1000)::bigint"
                + ALL_FIRED);
  }

  private static long number(Statement statement, String sql) throws SQLException {
    try (ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  private static void pause(Duration duration) {
    long untilNanos = System.nanoTime() + duration.toNanos();
    for (long left = duration.toNanos(); left > 0; left = untilNanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private void print(String text) {
    progress.print(contender.name() + " " + Scenario.SCHEDULES + ": " + text);
  }
}
