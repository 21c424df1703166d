package dev.kagzi.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.jdbc.OutboxRelay;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A worker of the bank, which executes transfers and relays the outbox. The environment sets its
 * addresses. Prints a first line when it is registered.
 */
public final class BankWorkerMain {
  static final String ADDRESSES = "TORTURE_ADDRESSES";
  static final String BANK_URL = "TORTURE_BANK_URL";
  static final String BANK_USER = "TORTURE_BANK_USER";
  static final String BANK_PASSWORD = "TORTURE_BANK_PASSWORD";
  static final String PLANT = "TORTURE_BANK_PLANT";
  private static final String PROCESS = "TORTURE_PROCESS";
  private static final int RUNS_MAX = 24;
  private static final int CONNECTIONS_MAX = 40;
  private static final Duration REGISTER_MAX = Duration.ofSeconds(50);
  private static final Duration SENT_EARLY_EVERY = Duration.ofMillis(500);

  private BankWorkerMain() {}

  @SuppressWarnings("try") // Both work until the process ends.
  public static void main(String[] args) throws IOException, InterruptedException {
    HikariDataSource bank =
        BankTables.pool(
            System.getenv(BANK_URL),
            System.getenv(BANK_USER),
            System.getenv(BANK_PASSWORD),
            CONNECTIONS_MAX);
    BankPlant plant = BankPlant.valueOf(System.getenv(PLANT));
    Kagzi kagzi =
        Kagzi.builder()
            .address(System.getenv(ADDRESSES))
            .callTimeout(Duration.ofSeconds(30))
            .connect();
    BankSteps steps = new BankSteps(System.getenv(PROCESS), bank, plant);
    Worker worker =
        kagzi
            .worker()
            .workflow(BankTransfer.TYPE, steps::transfer)
            .maxConcurrent(RUNS_MAX)
            .drainOnShutdown(false)
            .start();
    if (!worker.awaitRegistered(REGISTER_MAX)) {
      Runtime.getRuntime().halt(1);
    }
    if (plant == BankPlant.SENT_EARLY) {
      Thread.ofVirtual().name("early-relay").start(() -> relayEarly(kagzi, bank));
    } else {
      OutboxRelay unused = kagzi.relayOutbox(bank);
    }
    new PrintStream(System.out, true, StandardCharsets.UTF_8).println("ready");
    while (System.in.read() >= 0) {
      // Nothing is sent. The input ends when the parent process closes it or ends.
    }
    Runtime.getRuntime().halt(0);
  }

  /** The planted fault: deletes rows, commits, and sends them afterwards. */
  private static void relayEarly(Kagzi kagzi, HikariDataSource bank) {
    while (true) {
      try {
        List<BankTransfer> taken = take(bank);
        Pause.ofUnchecked(SENT_EARLY_EVERY);
        taken.forEach(each -> kagzi.workflow(BankTransfer.TYPE).id(each.id()).start(each));
      } catch (SQLException e) {
        Pause.ofUnchecked(SENT_EARLY_EVERY);
      }
    }
  }

  private static List<BankTransfer> take(HikariDataSource bank) throws SQLException {
    List<BankTransfer> taken = new ArrayList<>();
    try (Connection connection = bank.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "WITH taken AS (DELETE FROM kagzi_outbox WHERE kind = 'START' RETURNING order_key)"
                    + " SELECT number, from_account, to_account, amount FROM bank_orders"
                    + " WHERE 'transfer-' || number IN (SELECT order_key FROM taken)")) {
      while (row.next()) {
        taken.add(
            new BankTransfer(row.getInt(1), row.getInt(2), row.getInt(3), row.getInt(4), false));
      }
    }
    return taken;
  }
}
