package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.sdk.jdbc.StepTable;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;

/**
 * A transfer between two accounts of the application's own database. Each half is a transactional
 * step: it is committed exactly once, even if the worker stops at any moment.
 */
final class TransferExample implements Example {
  record Transfer(int from, int to, int amount) {}

  static final WorkflowType<Transfer, Integer> TRANSFER =
      WorkflowType.of("transfer", Transfer.class, Integer.class).queue("bank");

  private final DataSource bank;

  TransferExample() {
    JdbcDataSource memory = new JdbcDataSource();
    memory.setURL("jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1".formatted(UUID.randomUUID()));
    this.bank = memory;
  }

  private int transfer(WorkflowContext ctx, Transfer transfer) {
    int left =
        ctx.transaction(
            "debit", bank, Integer.class, c -> add(c, transfer.from(), -transfer.amount()));
    ctx.transaction("credit", bank, c -> add(c, transfer.to(), transfer.amount()));
    return left;
  }

  private static int add(Connection connection, int account, int amount) throws SQLException {
    try (PreparedStatement update =
            connection.prepareStatement("UPDATE accounts SET cents = cents + ? WHERE id = ?");
        PreparedStatement select =
            connection.prepareStatement("SELECT cents FROM accounts WHERE id = ?")) {
      update.setInt(1, amount);
      update.setInt(2, account);
      update.executeUpdate();
      select.setInt(1, account);
      try (ResultSet row = select.executeQuery()) {
        row.next();
        return row.getInt(1);
      }
    }
  }

  private void open() throws SQLException {
    try (Connection connection = bank.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS accounts (id int PRIMARY KEY, cents int)");
      statement.execute("MERGE INTO accounts VALUES (1, 10000), (2, 0)");
    }
    StepTable.in(bank).create();
  }

  @Override
  public String about() {
    return "a transfer in the application's own database, each half committed exactly once";
  }

  @Override
  @SuppressWarnings("try") // close() stops the worker
  public String run(Kagzi kagzi) {
    try (Worker worker = kagzi.worker("bank").workflow(TRANSFER, this::transfer).start()) {
      open();
      int left = kagzi.workflow(TRANSFER).start(new Transfer(1, 2, 4_200)).result();
      return "debited 42.00, %d.%02d left".formatted(left / 100, left % 100);
    } catch (SQLException e) {
      throw new IllegalStateException("the database of the example failed", e);
    }
  }
}
