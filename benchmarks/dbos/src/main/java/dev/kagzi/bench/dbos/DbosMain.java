package dev.kagzi.bench.dbos;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.dbos.transact.DBOS;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.txstep.JdbcStepFactory;
import dev.dbos.transact.workflow.Workflow;
import dev.dbos.transact.workflow.WorkflowHandle;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;

/**
 * Runs DBOS in its own process: reads a load per line, and answers with its result. Workflows are started directly, not through a queue, which is the fastest way of DBOS; the pool has 16 connections. It ends with its input.
 *
 * <p>Input: {@code steps sleepMs inFlight runsMax timeMaxMs}. Output: {@code runs seconds p50Ms
 * p90Ms p95Ms p99Ms}. Or {@code transactions count}, with the output {@code p50Ms p99Ms}: the time
 * of this many transactional steps, one at a time. The first line is {@code ready}.
 */
public final class DbosMain {
  private static final int POOL = 16;
  private static final String RESULT = "x".repeat(100);
  private static final String DONE = "ok";
  private static final String TRANSACTIONS = "transactions ";
  private static final int STEPS_PER_RUN = 20;
  private static final int ACCOUNTS = 1_000;

  private DbosMain() {}

  /** The interface that DBOS proxies. */
  public interface Work {
    String work(int steps, long sleepMs);

    String debits(int run);
  }

  /** The workflow. */
  public static final class Worker implements Work {
    private final DBOS dbos;
    private final JdbcStepFactory transactions;

    /** One run at a time, so it is used by one thread at a time. */
    private final List<Long> debitNanos = new ArrayList<>();

    Worker(DBOS dbos, JdbcStepFactory transactions) {
      this.dbos = dbos;
      this.transactions = transactions;
    }

    @Override
    @Workflow(name = "debits")
    public String debits(int run) {
      for (int i = 0; i < STEPS_PER_RUN; i++) {
        int account = 1 + (run * STEPS_PER_RUN + i) % ACCOUNTS;
        long begunNanos = System.nanoTime();
        try {
          transactions.txStep(
              connection -> {
                debit(connection, account);
                return DONE;
              },
              "debit");
        } catch (SQLException e) {
          throw new IllegalStateException("the debit failed", e);
        }
        debitNanos.add(System.nanoTime() - begunNanos);
      }
      return DONE;
    }

    @Override
    @Workflow(name = "work")
    public String work(int steps, long sleepMs) {
      for (int i = 0; i < steps; i++) {
        dbos.runStep(() -> RESULT, "s");
      }
      if (sleepMs > 0) {
        dbos.sleep(Duration.ofMillis(sleepMs));
      }
      return DONE;
    }
  }

  private record Load(int steps, long sleepMs, int inFlight, int runsMax, long timeMaxMs) {
    static Load parse(String line) {
      String[] fields = line.split(" ");
      return new Load(
          Integer.parseInt(fields[0]),
          Long.parseLong(fields[1]),
          Integer.parseInt(fields[2]),
          Integer.parseInt(fields[3]),
          Long.parseLong(fields[4]));
    }
  }

  public static void main(String[] args) throws Exception {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    // Output of libraries must not mix with the answers.
    System.setOut(System.err);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (HikariDataSource pool = pool(System.getenv())) {
      DBOS dbos = new DBOS(DBOSConfig.defaults("bench").withAppVersion("1").withDataSource(pool));
      createAccounts(pool);
      Worker worker = new Worker(dbos, new JdbcStepFactory(dbos, pool));
      Work work = dbos.registerProxy(Work.class, worker);
      dbos.launch();
      out.println("ready");
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        out.println(
            line.startsWith(TRANSACTIONS)
                ? debits(dbos, work, worker, Integer.parseInt(line.substring(TRANSACTIONS.length())))
                : run(dbos, work, Load.parse(line)));
      }
      dbos.shutdown();
    }
    System.exit(0);
  }

  private static HikariDataSource pool(Map<String, String> environment) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(environment.get("KAGZI_DB_URL"));
    config.setUsername(environment.get("KAGZI_DB_USER"));
    config.setPassword(environment.get("KAGZI_DB_PASSWORD"));
    config.setMaximumPoolSize(POOL);
    config.setMinimumIdle(POOL);
    config.setConnectionTimeout(60_000);
    config.addDataSourceProperty("reWriteBatchedInserts", "true");
    config.addDataSourceProperty("tcpKeepAlive", "true");
    return new HikariDataSource(config);
  }

  private static void createAccounts(HikariDataSource pool) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE accounts (id int PRIMARY KEY, cents bigint)");
      statement.execute(
          "INSERT INTO accounts SELECT i, 0 FROM generate_series(1, %d) i".formatted(ACCOUNTS));
    }
  }

  private static void debit(Connection connection, int account) throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement("UPDATE accounts SET cents = cents - 1 WHERE id = ?")) {
      update.setInt(1, account);
      update.executeUpdate();
    }
  }

  private static String debits(DBOS dbos, Work work, Worker worker, int count) {
    worker.debitNanos.clear();
    for (int i = 0; i < Math.max(1, count / STEPS_PER_RUN); i++) {
      int run = i;
      WorkflowHandle<String, RuntimeException> handle =
          dbos.startWorkflow(() -> work.debits(run));
      handle.getResult();
    }
    long[] sorted = worker.debitNanos.stream().mapToLong(Long::longValue).sorted().toArray();
    return String.format(
        Locale.ROOT, "%f %f", percentileMs(sorted, 0.50), percentileMs(sorted, 0.99));
  }

  private static String run(DBOS dbos, Work work, Load load) throws Exception {
    AtomicInteger started = new AtomicInteger();
    List<Future<long[]>> callers = new ArrayList<>();
    List<long[]> latencies = new ArrayList<>();
    long beganNanos = System.nanoTime();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < load.inFlight(); i++) {
        callers.add(threads.submit(() -> call(dbos, work, load, started, beganNanos)));
      }
      for (Future<long[]> caller : callers) {
        latencies.add(caller.get());
      }
    }
    double seconds = (System.nanoTime() - beganNanos) / 1e9;
    long[] sorted = latencies.stream().flatMapToLong(LongStream::of).sorted().toArray();
    return String.format(
        Locale.ROOT,
        "%d %f %f %f %f %f",
        sorted.length,
        seconds,
        percentileMs(sorted, 0.50),
        percentileMs(sorted, 0.90),
        percentileMs(sorted, 0.95),
        percentileMs(sorted, 0.99));
  }

  private static long[] call(
      DBOS dbos, Work work, Load load, AtomicInteger started, long beganNanos) {
    LongStream.Builder latencies = LongStream.builder();
    while (started.getAndIncrement() < load.runsMax()
        && System.nanoTime() - beganNanos < load.timeMaxMs() * 1_000_000) {
      long startNanos = System.nanoTime();
      WorkflowHandle<String, RuntimeException> handle =
          dbos.startWorkflow(() -> work.work(load.steps(), load.sleepMs()));
      String result = handle.getResult();
      if (!result.equals(DONE)) {
        throw new IllegalStateException("result: " + result + " (expected: " + DONE + ")");
      }
      latencies.add(System.nanoTime() - startNanos);
    }
    return latencies.build().toArray();
  }

  private static double percentileMs(long[] sorted, double part) {
    return sorted[(int) Math.ceil(part * sorted.length) - 1] / 1e6;
  }
}
