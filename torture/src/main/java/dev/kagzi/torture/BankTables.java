package dev.kagzi.torture;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.kagzi.sdk.jdbc.OutboxTable;
import dev.kagzi.sdk.jdbc.StepTable;
import dev.kagzi.torture.BankTransfer.Leg;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * The tables of the application. Orders and approvals are in both databases, where the tellers
 * write them. Accounts and movements are in the bank's database. Only the accounts have a primary
 * key: a unique key on the other tables would reject the duplicate rows that the checker must find.
 */
final class BankTables {
  private static final int CONNECT_MS_MAX = 5_000;

  private static final String ORDERS =
      """
      CREATE TABLE bank_orders (
        number int, from_account int, to_account int, amount int, needs_approval boolean);
      CREATE TABLE bank_approvals (number int, token text);
      """;

  private static final String ACCOUNTS =
      """
      CREATE TABLE accounts (id int PRIMARY KEY, amount bigint NOT NULL);
      CREATE TABLE movements (number int, leg text, account int, amount int, token text);
      """;

  private static final String FILL =
      "INSERT INTO accounts SELECT id, ? FROM generate_series(1, ?) AS id";

  private BankTables() {}

  /** A pool as an application would have one, through a link that may break. */
  static HikariDataSource pool(String url, String user, String password, int connectionsMax) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url + "?connectTimeout=5&socketTimeout=15");
    config.setUsername(user);
    config.setPassword(password);
    config.setMaximumPoolSize(connectionsMax);
    config.setMinimumIdle(0);
    config.setConnectionTimeout(CONNECT_MS_MAX);
    config.setValidationTimeout(CONNECT_MS_MAX / 2);
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }

  static void createInBank(Database bank, HikariDataSource pool) throws SQLException {
    try (Connection connection = bank.connect();
        Statement statement = connection.createStatement();
        PreparedStatement fill = connection.prepareStatement(FILL)) {
      statement.execute(ORDERS + ACCOUNTS);
      fill.setInt(1, BankTransfer.INITIAL_AMOUNT);
      fill.setInt(2, BankTransfer.ACCOUNTS);
      fill.executeUpdate();
    }
    StepTable.in(pool).create();
    OutboxTable.in(pool).create();
  }

  static void createBesideKagzi(Database kagzi) throws SQLException {
    try (Connection connection = kagzi.connect();
        Statement statement = connection.createStatement()) {
      statement.execute(ORDERS);
    }
  }

  static void insertOrder(Connection connection, BankTransfer transfer) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO bank_orders VALUES (?, ?, ?, ?, ?)")) {
      insert.setInt(1, transfer.number());
      insert.setInt(2, transfer.from());
      insert.setInt(3, transfer.to());
      insert.setInt(4, transfer.amount());
      insert.setBoolean(5, transfer.needsApproval());
      insert.executeUpdate();
    }
  }

  static void insertApproval(Connection connection, int number, String token) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO bank_approvals VALUES (?, ?)")) {
      insert.setInt(1, number);
      insert.setString(2, token);
      insert.executeUpdate();
    }
  }

  /** Changes the account, and inserts the movement with its token. */
  static void move(Connection connection, BankTransfer transfer, Leg leg, String token)
      throws SQLException {
    try (PreparedStatement update =
            connection.prepareStatement("UPDATE accounts SET amount = amount + ? WHERE id = ?");
        PreparedStatement insert =
            connection.prepareStatement("INSERT INTO movements VALUES (?, ?, ?, ?, ?)")) {
      update.setInt(1, leg.amount(transfer));
      update.setInt(2, leg.account(transfer));
      update.executeUpdate();
      insert.setInt(1, transfer.number());
      insert.setString(2, leg.name());
      insert.setInt(3, leg.account(transfer));
      insert.setInt(4, leg.amount(transfer));
      insert.setString(5, token);
      insert.executeUpdate();
    }
  }
}
