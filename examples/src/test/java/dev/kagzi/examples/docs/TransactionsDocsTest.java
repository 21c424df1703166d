package dev.kagzi.examples.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunNotFoundException;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.sdk.jdbc.OutboxRelay;
import dev.kagzi.sdk.jdbc.OutboxTable;
import dev.kagzi.sdk.jdbc.StepTable;
import dev.kagzi.sdk.jdbc.Transactions;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The code of docs/transactions.md. */
@ExtendWith(KagziExtension.class)
class TransactionsDocsTest {
  record Transfer(int from, int to, int amount) {}

  static final WorkflowType<Transfer, String> TRANSFER =
      WorkflowType.of("transfer", Transfer.class, String.class).queue("bank");

  private final JdbcDataSource dataSource = new JdbcDataSource();

  @BeforeEach
  void createTables() throws SQLException {
    dataSource.setURL("jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1".formatted(UUID.randomUUID()));
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE accounts (id int PRIMARY KEY, amount int)");
      statement.execute("INSERT INTO accounts VALUES (1, 100), (2, 0)");
    }
    StepTable.in(dataSource).create();
  }

  // docs: transactions.md
  String transfer(WorkflowContext ctx, Transfer transfer) {
    ctx.transaction(
        "debit", dataSource, connection -> add(connection, transfer.from(), -transfer.amount()));
    int balance =
        ctx.transaction(
            "credit",
            dataSource,
            Integer.class,
            connection -> add(connection, transfer.to(), transfer.amount()));
    return "balance: " + balance;
  }

  static int add(Connection connection, int account, int amount) throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement("UPDATE accounts SET amount = amount + ? WHERE id = ?")) {
      update.setInt(1, amount);
      update.setInt(2, account);
      update.executeUpdate();
    }
    return balance(connection, account);
  }

  // end

  static int balance(Connection connection, int account) throws SQLException {
    try (PreparedStatement select =
        connection.prepareStatement("SELECT amount FROM accounts WHERE id = ?")) {
      select.setInt(1, account);
      try (ResultSet row = select.executeQuery()) {
        assertThat(row.next()).isTrue();
        return row.getInt(1);
      }
    }
  }

  String withOptions(WorkflowContext ctx, Transfer transfer) {
    // docs: transactions.md
    int balance =
        ctx.step("debit")
            .retry(Retry.exponential(5))
            .timeout(Duration.ofSeconds(10))
            .transaction(
                Transactions.of(dataSource),
                Integer.class,
                connection -> add(connection, transfer.from(), -transfer.amount()));
    // end
    return "balance: " + balance;
  }

  record Order(int id, String item) {}

  static final WorkflowType<Order, String> PROCESS_ORDER =
      WorkflowType.of("process-order", Order.class, String.class).queue("orders");

  // docs: transactions.md
  static RunHandle<String> place(Kagzi kagzi, Connection connection, Order order)
      throws SQLException {
    connection.setAutoCommit(false);
    insert(connection, order);
    RunHandle<String> run =
        kagzi.workflow(PROCESS_ORDER).id("order-" + order.id()).startIn(connection, order);
    connection.commit();
    return run;
  }

  // end

  private static void insert(Connection connection, Order order) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS orders (id int PRIMARY KEY, item text)");
      statement.execute("INSERT INTO orders VALUES (%d, '%s')".formatted(order.id(), order.item()));
    }
  }

  static final Signal<Integer> PRIORITY = Signal.of("priority", Integer.class);

  // docs: transactions.md
  void accept(Kagzi kagzi, Connection connection, Order order) throws SQLException {
    connection.setAutoCommit(false);
    insert(connection, order);
    RunHandle<String> run =
        kagzi.workflow(PROCESS_ORDER).id("order-" + order.id()).startInOutbox(connection, order);
    run.signalInOutbox(connection, PRIORITY, 1);
    connection.commit();
  }

  // end

  // docs: transactions.md
  static void prioritize(RunHandle<String> run, Connection connection, int priority)
      throws SQLException {
    connection.setAutoCommit(false);
    update(connection, priority);
    run.signalIn(connection, PRIORITY, priority);
    connection.commit();
  }

  // end

  private static void update(Connection connection, int priority) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("UPDATE orders SET item = item || ' %d'".formatted(priority));
    }
  }

  @Test
  void an_order_is_sent_through_the_outbox(KagziEnv env) throws SQLException {
    Kagzi kagzi = env.kagzi();
    env.worker("orders")
        .workflow(PROCESS_ORDER, (ctx, order) -> order.item() + ctx.receive(PRIORITY))
        .start();
    OutboxTable.in(dataSource).create();
    // docs: transactions.md
    OutboxRelay relay = kagzi.relayOutbox(dataSource);
    // end
    try (Connection connection = dataSource.getConnection()) {
      accept(kagzi, connection, new Order(42, "lamp"));
    }
    await().atMost(Duration.ofSeconds(20)).until(() -> relay.sent() == 2);
    relay.close();

    assertThat(kagzi.run(PROCESS_ORDER, "order-42").result()).isEqualTo("lamp1");
  }

  @Test
  void an_order_and_its_run_are_one_transaction() throws SQLException {
    var postgres = SharedPostgres.server();
    String database = SharedPostgres.createDatabase();
    try (KagziServer server =
            KagziServer.start(
                ServerConfig.builder()
                    .dbUrl(postgres.jdbcUrl(database))
                    .dbUser(postgres.user())
                    .dbPassword(postgres.password())
                    .unsafeDatabase()
                    .grpcPort(0)
                    .httpPort(0)
                    .build());
        Kagzi kagzi = Kagzi.connect("127.0.0.1:" + server.grpcPort());
        Connection connection = postgres.connect(database)) {
      kagzi
          .worker("orders")
          .workflow(PROCESS_ORDER, (ctx, order) -> order.item() + ctx.receive(PRIORITY))
          .start();

      RunHandle<String> run = place(kagzi, connection, new Order(42, "lamp"));
      prioritize(run, connection, 1);

      await()
          .atMost(Duration.ofSeconds(20))
          .ignoreException(RunNotFoundException.class)
          .until(() -> run.status() != null);
      assertThat(run.result()).isEqualTo("lamp1");
    }
  }

  @Test
  void a_transfer_is_two_transactional_steps(KagziEnv env) {
    env.worker("bank").workflow(TRANSFER, this::transfer).start();

    RunHandle<String> run = env.kagzi().workflow(TRANSFER).start(new Transfer(1, 2, 30));

    assertThat(run.result()).isEqualTo("balance: 30");
  }

  @Test
  void a_transactional_step_has_options(KagziEnv env) {
    env.worker("bank").workflow(TRANSFER, this::withOptions).start();

    RunHandle<String> run = env.kagzi().workflow(TRANSFER).start(new Transfer(1, 2, 30));

    assertThat(run.result()).isEqualTo("balance: 70");
  }

  @Test
  void rows_are_purged(KagziEnv env) throws SQLException {
    env.worker("bank").workflow(TRANSFER, this::transfer).start();
    String runId = env.kagzi().workflow(TRANSFER).start(new Transfer(1, 2, 30)).runId();
    env.kagzi().run(runId, TRANSFER).result();

    assertThat(purge(env.kagzi(), dataSource)).isZero();
  }

  private static long purge(Kagzi kagzi, DataSource dataSource) throws SQLException {
    // docs: transactions.md
    long deleted = StepTable.in(dataSource).purge(kagzi, Duration.ofDays(1));
    // end
    return deleted;
  }
}
