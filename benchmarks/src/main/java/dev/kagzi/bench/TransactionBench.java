package dev.kagzi.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.sdk.jdbc.OutboxRelay;
import dev.kagzi.sdk.jdbc.OutboxTable;
import dev.kagzi.sdk.jdbc.StepTable;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Measures transactions of an application: starts through the outbox, starts in the database of the
 * server, and transactional steps beside the application's own transaction. The application's
 * database is another one in the same PostgreSQL.
 */
final class TransactionBench implements AutoCloseable {
  static final int STARTS_DEFAULT = 20_000;
  static final int STEPS_DEFAULT = 1_000;

  private static final int LATENCY_STARTS = 100;
  private static final int ROWS_PER_COMMIT = 100;
  private static final int STEPS_PER_RUN = 20;
  private static final int STEP_ROUNDS = 3;
  private static final double START_TARGET_MS = 100;
  private static final double RATE_TARGET = 5_000;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final long POLL_NANOS = 1_000_000;
  private static final Duration REGISTER_MAX = Duration.ofSeconds(30);

  private static final WorkflowType<Integer, String> STARTED =
      WorkflowType.of("bench-started", Integer.class, String.class).queue("bench-transactions");
  private static final WorkflowType<Integer, String> DEBITS =
      WorkflowType.of("bench-debits", Integer.class, String.class).queue("bench-transactions");

  private final Kagzi kagzi;
  private final Progress progress;
  private final int count;
  private final BenchDatabase own;
  private final HikariDataSource ofServer;
  private final HikariDataSource ofApplication;
  private final Map<String, Long> beganNanos = new ConcurrentHashMap<>();
  private final List<Long> ordinaryNanos = new ArrayList<>();
  private final List<Long> transactionalNanos = new ArrayList<>();

  TransactionBench(KagziContender contender, Progress progress, int count) {
    this.kagzi = contender.kagzi();
    this.progress = progress;
    this.count = count;
    this.own = contender.database().server().createDatabase();
    this.ofServer = pool(contender.database());
    this.ofApplication = pool(own);
  }

  private static HikariDataSource pool(BenchDatabase database) {
    DatabaseConfig config = database.config();
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(config.jdbcUrl());
    pool.setUsername(config.user());
    pool.setPassword(config.password());
    pool.setMaximumPoolSize(4);
    return new HikariDataSource(pool);
  }

  /**
   * Measures the starts per second through the outbox. For starts in the database of the server,
   * measures the time from the commit to the code of the run.
   */
  Map<String, @Nullable Object> measureStarts() {
    return withWorker(
        () -> {
          OutboxTable.in(ofApplication).create();
          print("warming up");
          relay(Math.min(count, 5_000));
          print(count + " starts through the outbox");
          double perSecond = relay(count);
          print(LATENCY_STARTS + " starts in the database of the server, one at a time");
          Latency latency = Latency.of("commit to code", latencies(), START_TARGET_MS);
          Map<String, @Nullable Object> figures = new LinkedHashMap<>();
          figures.put("scenario", Scenario.OUTBOX.name());
          figures.put("starts", count);
          figures.put("relayed_per_s", Math.round(perSecond));
          figures.put("relayed_per_s_target", Math.round(RATE_TARGET));
          figures.put("start_in_p50_ms", rounded(latency.p50()));
          figures.put("start_in_p99_ms", rounded(latency.p99()));
          figures.put("start_in_p50_ms_target", START_TARGET_MS);
          figures.put("met", latency.isMet() && perSecond >= RATE_TARGET);
          return figures;
        });
  }

  /**
   * A transactional step beside an ordinary one and beside the transaction alone.
   *
   * @param dbos if not null, its transactional step is measured in turn
   */
  Map<String, @Nullable Object> measureSteps(@Nullable DbosContender dbos) {
    return withWorker(
        () -> {
          StepTable.in(ofApplication).create();
          try (Connection connection = ofApplication.getConnection();
              Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE accounts (id int PRIMARY KEY, cents bigint)");
            statement.execute("INSERT INTO accounts SELECT i, 0 FROM generate_series(1, 1000) i");
          }
          print("warming up");
          debit(count);
          if (dbos != null) {
            dbos.transactionalSteps(count);
          }
          Map<String, List<Double>> rounds = new LinkedHashMap<>();
          for (int i = 1; i <= STEP_ROUNDS; i++) {
            print("%d steps of each kind, round %d of %d".formatted(count, i, STEP_ROUNDS));
            measureRound(rounds, dbos);
          }
          Map<String, @Nullable Object> figures = new LinkedHashMap<>();
          figures.put("scenario", Scenario.TXSTEP.name());
          figures.put("steps", count);
          rounds.forEach((name, values) -> figures.put(name, rounded(median(values))));
          return figures;
        });
  }

  private void measureRound(Map<String, List<Double>> rounds, @Nullable DbosContender dbos)
      throws SQLException {
    Latency plain = Latency.of("transaction alone", transactions(count), 0);
    ordinaryNanos.clear();
    transactionalNanos.clear();
    debit(count);
    Latency ordinary = Latency.of("ordinary step", nanos(ordinaryNanos), 0);
    Latency transactional = Latency.of("transactional step", nanos(transactionalNanos), 0);
    add(rounds, "transaction_alone_p50_ms", plain.p50());
    add(rounds, "ordinary_step_p50_ms", ordinary.p50());
    add(rounds, "transactional_step_p50_ms", transactional.p50());
    add(rounds, "transactional_step_p99_ms", transactional.p99());
    if (dbos != null) {
      double[] theirs = dbos.transactionalSteps(count);
      add(rounds, "dbos_transactional_step_p50_ms", theirs[0]);
      add(rounds, "dbos_transactional_step_p99_ms", theirs[1]);
    }
  }

  private static void add(Map<String, List<Double>> rounds, String name, double value) {
    rounds.computeIfAbsent(name, unused -> new ArrayList<>()).add(value);
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().toList().get(values.size() / 2);
  }

  private interface Measurement {
    Map<String, @Nullable Object> run() throws SQLException;
  }

  private Map<String, @Nullable Object> withWorker(Measurement measurement) {
    try (Worker worker =
        kagzi
            .worker()
            .workflow(STARTED, this::started)
            .workflow(DEBITS, this::debits)
            .drainOnShutdown(false)
            .start()) {
      if (!worker.awaitRegistered(REGISTER_MAX)) {
        throw new BenchException("the worker is not registered after " + REGISTER_MAX);
      }
      return measurement.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    } catch (SQLException e) {
      throw new BenchException("the application's database failed: " + e.getMessage(), e);
    }
  }

  private String started(WorkflowContext ctx, Integer number) {
    beganNanos.put(ctx.runId(), System.nanoTime());
    return "ok";
  }

  /** Commits all rows first. Returns how many of them one relay then sends per second. */
  private double relay(int starts) throws SQLException {
    try (Connection connection = ofApplication.getConnection()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < starts; i++) {
        kagzi.workflow(STARTED).startInOutbox(connection, i);
        if (i % ROWS_PER_COMMIT == 0) {
          connection.commit();
        }
      }
      connection.commit();
    }
    long begun = System.nanoTime();
    try (OutboxRelay relay = kagzi.relayOutbox(ofApplication)) {
      while (relay.sent() < starts) {
        LockSupport.parkNanos(POLL_NANOS);
      }
      return starts * NANOS_PER_SECOND / (System.nanoTime() - begun);
    }
  }

  private long[] latencies() throws SQLException {
    long[] nanos = new long[LATENCY_STARTS];
    try (Connection connection = ofServer.getConnection()) {
      connection.setAutoCommit(false);
      for (int i = 0; i < LATENCY_STARTS; i++) {
        RunHandle<String> run = kagzi.workflow(STARTED).startIn(connection, i);
        connection.commit();
        long committed = System.nanoTime();
        Long began = beganNanos.remove(run.runId());
        while (began == null) {
          LockSupport.parkNanos(POLL_NANOS);
          began = beganNanos.remove(run.runId());
        }
        nanos[i] = began - committed;
        // A random pause, so that the next commit is not in step with the polls of the server.
        LockSupport.parkNanos((long) (Math.random() * 200 * POLL_NANOS));
      }
    }
    return nanos;
  }

  private void debit(int steps) {
    for (int i = 0; i < Math.max(1, steps / STEPS_PER_RUN); i++) {
      kagzi.workflow(DEBITS).start(i).result();
    }
  }

  // One run at a time, so the lists are used by one thread at a time.
  private String debits(WorkflowContext ctx, Integer run) {
    for (int i = 0; i < STEPS_PER_RUN; i++) {
      int account = 1 + (run * STEPS_PER_RUN + i) % 1_000;
      long begun = System.nanoTime();
      ctx.transaction("debit", ofApplication, connection -> update(connection, account));
      long between = System.nanoTime();
      ctx.step("ordinary", () -> {});
      transactionalNanos.add(between - begun);
      ordinaryNanos.add(System.nanoTime() - between);
    }
    return "ok";
  }

  private long[] transactions(int all) throws SQLException {
    long[] nanos = new long[all];
    for (int i = 0; i < all; i++) {
      long begun = System.nanoTime();
      try (Connection connection = ofApplication.getConnection()) {
        connection.setAutoCommit(false);
        update(connection, 1 + i % 1_000);
        connection.commit();
        connection.setAutoCommit(true);
      }
      nanos[i] = System.nanoTime() - begun;
    }
    return nanos;
  }

  private static void update(Connection connection, int account) throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement("UPDATE accounts SET cents = cents - 1 WHERE id = ?")) {
      update.setInt(1, account);
      update.executeUpdate();
    }
  }

  private static long[] nanos(List<Long> values) {
    return values.stream().mapToLong(Long::longValue).toArray();
  }

  private static double rounded(double ms) {
    return Math.round(ms * 100) / 100.0;
  }

  private void print(String text) {
    progress.print("transactions: " + text);
  }

  @Override
  public void close() {
    ofServer.close();
    ofApplication.close();
    own.close();
  }
}
