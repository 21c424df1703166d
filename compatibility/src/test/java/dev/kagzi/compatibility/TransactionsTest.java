package dev.kagzi.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunNotFoundException;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.sdk.jdbc.OutboxTable;
import dev.kagzi.sdk.jdbc.StepTable;
import dev.kagzi.spring.KagziAutoConfiguration;
import dev.kagzi.spring.KagziOutbox;
import dev.kagzi.spring.KagziTransactionsAutoConfiguration;
import dev.kagzi.spring.SpringTransactions;
import dev.kagzi.spring.WorkflowDefinition;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabase;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.TransactionTemplate;

/** Transactional steps and the outbox in transactions of Spring. */
@ExtendWith(KagziExtension.class)
@Tag("starter")
class TransactionsTest {
  record Order(String id, int cents) {}

  private static final WorkflowType<Order, String> PAY =
      WorkflowType.of("pay", Order.class, String.class).queue("payments");
  private static final Signal<Integer> TIP = Signal.of("tip", Integer.class);
  private static final Duration SOON = Duration.ofSeconds(20);

  static class Orders {
    private final JdbcTemplate jdbc;
    private final Kagzi kagzi;
    private final KagziOutbox outbox;

    Orders(JdbcTemplate jdbc, Kagzi kagzi, KagziOutbox outbox) {
      this.jdbc = jdbc;
      this.kagzi = kagzi;
      this.outbox = outbox;
    }

    @Transactional
    public RunHandle<String> place(Order order) {
      jdbc.update("INSERT INTO orders (id, cents) VALUES (?, ?)", order.id(), order.cents());
      return outbox.start(kagzi.workflow(PAY).id(order.id()), order);
    }

    @Transactional
    public RunHandle<String> placeWithTip(Order order, int tip) {
      RunHandle<String> run = place(order);
      outbox.signal(run, TIP, tip);
      return run;
    }

    @Transactional
    public RunHandle<String> placeAndRollBack(Order order) {
      RunHandle<String> run = placeWithTip(order, 1);
      TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
      return run;
    }

    RunHandle<String> placeWithoutTransaction(Order order) {
      return outbox.start(kagzi.workflow(PAY).id(order.id()), order);
    }
  }

  static class Accounts {
    private final JdbcTemplate jdbc;

    Accounts(JdbcTemplate jdbc) {
      this.jdbc = jdbc;
    }

    @Transactional
    public int debit(int cents) {
      jdbc.update("UPDATE account SET cents = cents - ?", cents);
      if (cents == 13) {
        throw new NonRetryableException("13 is refused");
      }
      if (cents == 14) {
        TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
      }
      return cents();
    }

    int cents() {
      return jdbc.queryForObject("SELECT cents FROM account", Integer.class);
    }
  }

  static class Pay implements WorkflowDefinition<Order, String> {
    private final Accounts accounts;
    private final SpringTransactions transactions;

    Pay(Accounts accounts, SpringTransactions transactions) {
      this.accounts = accounts;
      this.transactions = transactions;
    }

    @Override
    public WorkflowType<Order, String> type() {
      return PAY;
    }

    @Override
    public String run(WorkflowContext ctx, Order order) {
      int left = ctx.transaction("debit", transactions, Integer.class, connection ->
          accounts.debit(order.cents()));
      int tip = ctx.receive(TIP);
      ctx.transaction("tip", transactions, connection -> accounts.debit(tip));
      return left + " left, then a tip of " + tip;
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(proxyTargetClass = true)
  @Import({Orders.class, Accounts.class, Pay.class})
  static class Bank {
    @Bean
    EmbeddedDatabase dataSource() throws SQLException {
      EmbeddedDatabase database = database();
      StepTable.in(database).create();
      OutboxTable.in(database).create();
      JdbcTemplate jdbc = new JdbcTemplate(database);
      jdbc.execute("CREATE TABLE orders (id varchar(100), cents int)");
      jdbc.execute("CREATE TABLE account (cents int)");
      jdbc.execute("INSERT INTO account VALUES (1000)");
      return database;
    }

    @Bean
    PlatformTransactionManager transactionManager(DataSource dataSource) {
      return new DataSourceTransactionManager(dataSource);
    }

    @Bean
    JdbcTemplate jdbc(DataSource dataSource) {
      return new JdbcTemplate(dataSource);
    }
  }

  private static EmbeddedDatabase database() {
    return new EmbeddedDatabaseBuilder()
        .setType(EmbeddedDatabaseType.H2)
        .generateUniqueName(true)
        .build();
  }

  private static ApplicationContextRunner on(KagziEnv env) {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                KagziAutoConfiguration.class, KagziTransactionsAutoConfiguration.class))
        .withPropertyValues(
            "kagzi.address=" + env.address(),
            "kagzi.namespace=" + env.namespace(),
            "kagzi.outbox.enabled=true");
  }

  private static int count(ApplicationContext context, String table) {
    return context
        .getBean(JdbcTemplate.class)
        .queryForObject("SELECT count(*) FROM " + table, Integer.class);
  }

  @Test
  void a_start_and_a_signal_are_sent_with_the_commit(KagziEnv env) {
    on(env)
        .withUserConfiguration(Bank.class)
        .run(
            context -> {
              RunHandle<String> run =
                  context.getBean(Orders.class).placeWithTip(new Order("order-1", 400), 5);

              await().atMost(SOON).until(() -> count(context, "kagzi_outbox") == 0);
              assertThat(run.result(SOON)).isEqualTo("600 left, then a tip of 5");
              assertThat(run.info().workflowId()).contains("order-1");
              assertThat(count(context, "orders")).isEqualTo(1);
              assertThat(context.getBean(Accounts.class).cents()).isEqualTo(595);
            });
  }

  @Test
  void a_rollback_takes_the_start_and_the_signal_back(KagziEnv env) {
    on(env)
        .withUserConfiguration(Bank.class)
        .run(
            context -> {
              Orders orders = context.getBean(Orders.class);

              RunHandle<String> rolledBack = orders.placeAndRollBack(new Order("order-2", 400));
              RunHandle<String> next = orders.placeWithTip(new Order("order-3", 400), 5);

              assertThat(count(context, "orders")).isEqualTo(1);
              await().atMost(SOON).until(() -> count(context, "kagzi_outbox") == 0);
              assertThat(next.result(SOON)).isEqualTo("600 left, then a tip of 5");
              assertThatThrownBy(rolledBack::status).isInstanceOf(RunNotFoundException.class);
            });
  }

  @Test
  void a_step_that_throws_is_rolled_back(KagziEnv env) {
    on(env)
        .withUserConfiguration(Bank.class)
        .run(
            context -> {
              RunHandle<String> run =
                  context.getBean(Kagzi.class).workflow(PAY).start(new Order("order-4", 13));

              assertThatThrownBy(() -> run.result(SOON))
                  .isInstanceOf(RunFailedException.class)
                  .hasMessageContaining("13 is refused");
              assertThat(context.getBean(Accounts.class).cents()).isEqualTo(1000);
            });
  }

  @Test
  void a_step_that_is_marked_for_rollback_does_not_succeed(KagziEnv env) {
    on(env)
        .withUserConfiguration(Bank.class)
        .run(
            context -> {
              RunHandle<String> run =
                  context
                      .getBean(Kagzi.class)
                      .workflow(PAY)
                      .id("order-5")
                      .start(new Order("order-5", 14));
              env.advance(Duration.ofHours(1));

              assertThatThrownBy(() -> run.result(SOON))
                  .isInstanceOf(RunFailedException.class)
                  .hasMessageContaining("marked for rollback");
              assertThat(context.getBean(Accounts.class).cents()).isEqualTo(1000);
            });
  }

  @Test
  void without_a_transaction_nothing_is_written(KagziEnv env) {
    on(env)
        .withUserConfiguration(Bank.class)
        .run(
            context -> {
              Orders orders = context.getBean(Orders.class);

              assertThatThrownBy(() -> orders.placeWithoutTransaction(new Order("order-6", 1)))
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("KagziOutbox.start: called without a transaction");
              assertThat(count(context, "kagzi_outbox")).isZero();
            });
  }

  @Test
  void a_transaction_of_another_database_is_refused(KagziEnv env) {
    on(env)
        .withUserConfiguration(Bank.class)
        .run(
            context -> {
              KagziOutbox outbox = context.getBean(KagziOutbox.class);
              Kagzi kagzi = context.getBean(Kagzi.class);
              EmbeddedDatabase other = database();
              TransactionTemplate transactions =
                  new TransactionTemplate(new DataSourceTransactionManager(other));
              SpringTransactions mixed =
                  new SpringTransactions(transactions, context.getBean(DataSource.class));

              assertThatThrownBy(
                      () ->
                          transactions.execute(
                              status -> outbox.start(kagzi.workflow(PAY), new Order("x", 1))))
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("does not include the data source");
              assertThatThrownBy(() -> mixed.inTransaction(connection -> "never"))
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("does not include the data source");
              assertThat(count(context, "kagzi_outbox")).isZero();
              other.shutdown();
            });
  }

  @Test
  void a_step_does_not_join_a_transaction_that_is_open(KagziEnv env) {
    on(env)
        .withUserConfiguration(Bank.class)
        .run(
            context -> {
              DataSource dataSource = context.getBean(DataSource.class);
              TransactionTemplate template =
                  new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
              SpringTransactions joining = new SpringTransactions(template, dataSource);

              assertThatThrownBy(
                      () ->
                          template.execute(
                              status -> {
                                try {
                                  return joining.inTransaction(connection -> "joined");
                                } catch (RuntimeException e) {
                                  throw e;
                                } catch (Exception e) {
                                  throw new AssertionError(e);
                                }
                              }))
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining("PROPAGATION_REQUIRES_NEW");
            });
  }

  @Test
  void a_start_without_the_table_of_the_outbox_says_what_is_missing(KagziEnv env) {
    on(env)
        .withBean(EmbeddedDatabase.class, TransactionsTest::database)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .hasStackTraceContaining("kagzi.outbox.enabled: true")
                    .hasStackTraceContaining("`kagzi sql outbox --dialect h2`"));
  }

  @Test
  void without_the_property_there_is_no_outbox(KagziEnv env) {
    on(env)
        .withBean(EmbeddedDatabase.class, TransactionsTest::database)
        .withPropertyValues("kagzi.outbox.enabled=false")
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(KagziOutbox.class));
  }
}
