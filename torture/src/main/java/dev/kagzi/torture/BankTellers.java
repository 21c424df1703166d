package dev.kagzi.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.WorkflowStarter;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The application: writes orders of transfers, and starts their runs in the same transactions.
 * Orders with an even number are written to the bank's database, and their runs start through the
 * outbox. The other orders are written to Kagzi's database, and their runs start with {@code
 * startIn}. Approvals are sent in the same two ways. Some transactions are rolled back, and faults
 * break others. Thread-safe.
 */
final class BankTellers implements AutoCloseable {
  private static final int ROLLED_BACK_EVERY = 11;

  /** Every second transfer that needs an approval gets it in the transaction of its order. */
  private static final int APPROVED_AT_ONCE_EVERY = 6;

  private static final int CONNECTIONS_MAX = 16;

  private static final String NOT_APPROVED_SQL =
      """
      SELECT number FROM bank_orders AS o
       WHERE needs_approval
         AND NOT EXISTS (SELECT FROM bank_approvals AS a WHERE a.number = o.number)
      """;

  private final Kagzi kagzi;
  private final HikariDataSource bank;
  private final HikariDataSource besideKagzi;
  private final long seed;
  private final boolean approvals;
  private final AtomicInteger placed = new AtomicInteger();
  private final Map<Integer, Outcome> outcomes = new ConcurrentHashMap<>();
  private final Map<Integer, RunHandle<String>> runs = new ConcurrentHashMap<>();
  private final Queue<String> errors = new ConcurrentLinkedQueue<>();
  private final List<Thread> tellers = new ArrayList<>();
  private volatile boolean stopped;

  /** What the teller knows about the transaction of an order. */
  enum Outcome {
    COMMITTED,
    /** Rolled back, or failed before the commit. */
    ABANDONED,
    /** The commit was not answered. */
    UNKNOWN
  }

  BankTellers(BankFleet fleet, long seed, boolean approvals) {
    this.kagzi =
        Kagzi.builder()
            .address(fleet.serverAddresses())
            .callTimeout(Duration.ofSeconds(30))
            .connect();
    this.bank = pool(fleet.bank(), fleet.tellersToBank());
    this.besideKagzi = pool(fleet.kagzi(), fleet.tellersToKagzi());
    this.seed = seed;
    this.approvals = approvals;
  }

  private static HikariDataSource pool(Database database, Link link) {
    return BankTables.pool(
        Database.url(List.of(link.port())), database.user(), database.password(), CONNECTIONS_MAX);
  }

  HikariDataSource bank() {
    return bank;
  }

  /**
   * @param pace the average pause of a teller between two transfers
   */
  void start(int count, Duration pace) {
    for (int i = 0; i < count; i++) {
      tellers.add(Thread.ofVirtual().name("teller-" + i).start(() -> work(pace)));
    }
  }

  private void work(Duration pace) {
    try {
      while (!stopped) {
        int number = placed.incrementAndGet();
        place(BankTransfer.random(number, new Random(seed * 31 + number), approvals));
        Pause.ofUnchecked(pace.dividedBy(2).plus(pace.multipliedBy(number % 11).dividedBy(10)));
      }
    } catch (RuntimeException e) {
      errors.add("teller: " + e);
    }
  }

  private static boolean isInBank(int number) {
    return number % 2 == 0;
  }

  private HikariDataSource databaseOf(int number) {
    return isInBank(number) ? bank : besideKagzi;
  }

  private void place(BankTransfer transfer) {
    int number = transfer.number();
    try (Connection connection = databaseOf(number).getConnection()) {
      connection.setAutoCommit(false);
      BankTables.insertOrder(connection, transfer);
      RunHandle<String> run = start(connection, transfer);
      if (transfer.needsApproval()) {
        runs.put(number, run);
        if (number % APPROVED_AT_ONCE_EVERY == 0) {
          approve(connection, number, run);
        }
      }
      if (number % ROLLED_BACK_EVERY == 0) {
        connection.rollback();
        outcomes.put(number, Outcome.ABANDONED);
        return;
      }
      outcomes.put(number, Outcome.UNKNOWN);
      connection.commit();
      outcomes.put(number, Outcome.COMMITTED);
    } catch (SQLException e) {
      outcomes.putIfAbsent(number, Outcome.ABANDONED);
      return;
    }
    if (transfer.needsApproval() && number % APPROVED_AT_ONCE_EVERY != 0) {
      approve(number);
    }
  }

  private RunHandle<String> start(Connection connection, BankTransfer transfer)
      throws SQLException {
    WorkflowStarter<BankTransfer, String> starter =
        kagzi.workflow(BankTransfer.TYPE).id(transfer.id());
    return isInBank(transfer.number())
        ? starter.startInOutbox(connection, transfer)
        : starter.startIn(connection, transfer);
  }

  /** Approves in a separate transaction. If it fails, {@link #approveTheRest} repeats it. */
  private void approve(int number) {
    RunHandle<String> run = runs.get(number);
    try (Connection connection = databaseOf(number).getConnection()) {
      connection.setAutoCommit(false);
      if (run != null) {
        approve(connection, number, run);
      }
      connection.commit();
    } catch (SQLException e) {
      // The database was killed or the connection broke: the approval may or may not be committed.
    }
  }

  private static void approve(Connection connection, int number, RunHandle<String> run)
      throws SQLException {
    String token = "approval-" + number;
    BankTables.insertApproval(connection, number, token);
    if (isInBank(number)) {
      run.signalInOutbox(connection, BankTransfer.APPROVAL, token);
    } else {
      run.signalIn(connection, BankTransfer.APPROVAL, token);
    }
  }

  /** Places no more orders, and returns when the last teller has ended. */
  void stop() {
    stopped = true;
    for (Thread teller : tellers) {
      try {
        teller.join();
      } catch (InterruptedException e) {
        throw TortureException.interrupted(e);
      }
    }
  }

  /** Approves orders whose approval was lost by a fault; returns how many. */
  int approveTheRest() throws SQLException {
    List<Integer> rest = new ArrayList<>(notApproved(bank));
    rest.addAll(notApproved(besideKagzi));
    rest.forEach(this::approve);
    return rest.size();
  }

  private static List<Integer> notApproved(HikariDataSource database) throws SQLException {
    List<Integer> numbers = new ArrayList<>();
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(NOT_APPROVED_SQL)) {
      while (row.next()) {
        numbers.add(row.getInt(1));
      }
    }
    return numbers;
  }

  Map<Integer, Outcome> outcomes() {
    return Map.copyOf(outcomes);
  }

  List<String> errors() {
    return List.copyOf(errors);
  }

  @Override
  public void close() {
    stopped = true;
    kagzi.close();
    bank.close();
    besideKagzi.close();
  }
}
