package dev.kagzi.torture;

import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.StepBuilder;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.jdbc.TransactionCode;
import dev.kagzi.sdk.jdbc.Transactions;
import dev.kagzi.torture.BankTransfer.Leg;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The code of a transfer, as it should be, and with planted faults. Thread-safe. */
final class BankSteps {
  private static final Retry RETRY =
      Retry.exponential(200).initial(Duration.ofMillis(20)).max(Duration.ofSeconds(1));
  private static final int PAUSE_MS_MAX = 30;

  /** How long a planted fault keeps its window open, so that a kill or a pause hits some. */
  private static final Duration WINDOW = Duration.ofMillis(300);

  private static final int FAILS_OF_100 = 4;
  private static final int HANGS_OF_100 = 1;
  private static final int TIMED_EVERY = 7;
  private static final Duration TIMEOUT = Duration.ofMillis(800);

  private final String process;
  private final DataSource bank;
  private final BankPlant plant;
  private final AtomicInteger tokens = new AtomicInteger();

  BankSteps(String process, DataSource bank, BankPlant plant) {
    this.process = process;
    this.bank = bank;
    this.plant = plant;
  }

  /** Executes the transfer. Returns the tokens of the debit, the approval and the credit. */
  String transfer(WorkflowContext ctx, BankTransfer transfer) {
    String debit = execute(ctx, transfer, Leg.DEBIT);
    String approval = transfer.needsApproval() ? ctx.receive(BankTransfer.APPROVAL) : "none";
    String credit = execute(ctx, transfer, Leg.CREDIT);
    return debit + " " + approval + " " + credit;
  }

  private String execute(WorkflowContext ctx, BankTransfer transfer, Leg leg) {
    StepBuilder step = ctx.step(leg.name()).retry(RETRY);
    if (transfer.number() % TIMED_EVERY == 0) {
      step.timeout(TIMEOUT);
    }
    Transactions transactions = Transactions.of(bank);
    return switch (plant) {
      case NONE, SENT_EARLY ->
          step.transaction(
              transactions, String.class, connection -> move(connection, transfer, leg));
      case RESULT_OUTSIDE ->
          step.transaction(
              transactions,
              String.class,
              unused -> window(transactions.inTransaction(own -> move(own, transfer, leg))));
      case NO_FENCE ->
          step.run(
              String.class, () -> transactions.inTransaction(unfenced(ctx.runId(), transfer, leg)));
    };
  }

  private String move(Connection connection, BankTransfer transfer, Leg leg)
      throws SQLException, InterruptedException {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    String token = process + "-" + tokens.incrementAndGet();
    BankTables.move(connection, transfer, leg, token);
    Pause.of(Duration.ofMillis(random.nextInt(PAUSE_MS_MAX)));
    int lot = random.nextInt(100);
    if (plant == BankPlant.NONE && lot < FAILS_OF_100) {
      throw new IllegalStateException("as planned, after the effects");
    }
    if (plant == BankPlant.NONE && lot >= 100 - HANGS_OF_100) {
      Pause.of(TIMEOUT.plusMillis(100));
    }
    return token;
  }

  /** Looks for a result, but neither locks its row nor compares epochs. */
  private TransactionCode<String> unfenced(String runId, BankTransfer transfer, Leg leg) {
    return connection -> {
      String stored = stored(connection, runId, leg);
      if (stored != null) {
        return stored;
      }
      String token = window(move(connection, transfer, leg));
      store(connection, runId, leg, token);
      return token;
    };
  }

  private static @Nullable String stored(Connection connection, String runId, Leg leg)
      throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT convert_from(output, 'UTF8') FROM kagzi_steps"
                + " WHERE run_id = ? AND step_key = ?")) {
      select.setObject(1, UUID.fromString(runId));
      select.setString(2, leg.name());
      try (ResultSet row = select.executeQuery()) {
        return row.next() ? row.getString(1) : null;
      }
    }
  }

  private static void store(Connection connection, String runId, Leg leg, String token)
      throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO kagzi_steps (namespace, run_id, step_key, epoch, output)"
                + " VALUES ('default', ?, ?, 1, convert_to(?, 'UTF8'))"
                + " ON CONFLICT (run_id, step_key) DO UPDATE SET output = excluded.output")) {
      insert.setObject(1, UUID.fromString(runId));
      insert.setString(2, leg.name());
      insert.setString(3, token);
      insert.executeUpdate();
    }
  }

  private static String window(String token) throws InterruptedException {
    Pause.of(WINDOW);
    return token;
  }
}
