package dev.kagzi.compatibility;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunNotFoundException;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.spring.KagziOutbox;
import dev.kagzi.spring.SpringTransactions;
import dev.kagzi.spring.WorkflowDefinition;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;

/** JPA in the transactions of steps and of the outbox, as Spring Boot configures it. */
@ExtendWith(KagziExtension.class)
@Tag("starter")
class JpaTransactionsTest {
  private static final WorkflowType<String, Integer> PAY =
      WorkflowType.of("pay", String.class, Integer.class).queue("payments");
  private static final Duration SOON = Duration.ofSeconds(20);

  @Entity(name = "payment")
  static class Payment {
    @Id private String id;

    protected Payment() {}

    Payment(String id) {
      this.id = id;
    }
  }

  static class Payments {
    @PersistenceContext private EntityManager entities;

    private final Kagzi kagzi;
    private final KagziOutbox outbox;

    Payments(Kagzi kagzi, KagziOutbox outbox) {
      this.kagzi = kagzi;
      this.outbox = outbox;
    }

    @Transactional
    public void pay(String id) {
      entities.persist(new Payment(id));
      entities.flush();
      if (id.equals("refused")) {
        throw new NonRetryableException("no payment");
      }
    }

    @Transactional
    public RunHandle<Integer> order(String id, boolean commit) {
      entities.persist(new Payment("order of " + id));
      if (!commit) {
        TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
      }
      return outbox.start(kagzi.workflow(PAY), id);
    }
  }

  /** Returns how many payments the connection of its step sees before the commit. */
  static class Pay implements WorkflowDefinition<String, Integer> {
    private final Payments payments;
    private final SpringTransactions transactions;

    Pay(Payments payments, SpringTransactions transactions) {
      this.payments = payments;
      this.transactions = transactions;
    }

    @Override
    public WorkflowType<String, Integer> type() {
      return PAY;
    }

    @Override
    public Integer run(WorkflowContext ctx, String id) {
      return ctx.transaction(
          "pay",
          transactions,
          Integer.class,
          connection -> {
            payments.pay(id);
            return count(connection, id);
          });
    }
  }

  private static int count(Connection connection, String id) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows =
            statement.executeQuery("SELECT count(*) FROM payment WHERE id = '" + id + "'")) {
      rows.next();
      return rows.getInt(1);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @Import({Payments.class, Pay.class})
  static class Bank {}

  private static void on(KagziEnv env, Consumer<ConfigurableApplicationContext> test) {
    try (ConfigurableApplicationContext context =
        new SpringApplicationBuilder(Bank.class)
            .web(WebApplicationType.NONE)
            .properties(
                "kagzi.address=" + env.address(),
                "kagzi.namespace=" + env.namespace(),
                "kagzi.embedded.enabled=false",
                "kagzi.outbox.enabled=true",
                "spring.datasource.generate-unique-name=true",
                "spring.flyway.locations=classpath:db/kagzi",
                "spring.jpa.hibernate.ddl-auto=create")
            .run()) {
      test.accept(context);
    }
  }

  private static int rows(ConfigurableApplicationContext context, String table) {
    return context
        .getBean(JdbcTemplate.class)
        .queryForObject("SELECT count(*) FROM " + table, Integer.class);
  }

  @Test
  void entities_of_a_step_are_in_the_transaction_of_its_result(KagziEnv env) {
    on(
        env,
        context -> {
          RunHandle<Integer> run = context.getBean(Kagzi.class).workflow(PAY).start("Ada");

          assertThat(run.result(SOON)).as("seen by the connection of the step").isEqualTo(1);
          assertThat(rows(context, "payment")).isEqualTo(1);
          assertThat(rows(context, "kagzi_steps")).isEqualTo(1);
        });
  }

  @Test
  void entities_of_a_step_that_fails_are_rolled_back(KagziEnv env) {
    on(
        env,
        context -> {
          RunHandle<Integer> run = context.getBean(Kagzi.class).workflow(PAY).start("refused");

          assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);
          assertThat(rows(context, "payment")).isZero();
        });
  }

  @Test
  void entities_and_a_start_are_committed_together_or_not_at_all(KagziEnv env) {
    on(
        env,
        context -> {
          Payments payments = context.getBean(Payments.class);

          RunHandle<Integer> rolledBack = payments.order("Bob", false);
          RunHandle<Integer> committed = payments.order("Ada", true);
          awaitSent(committed);

          assertThat(committed.result(SOON)).isEqualTo(1);
          assertThat(rows(context, "payment")).isEqualTo(2);
          assertThatThrownBy(rolledBack::status).isInstanceOf(RunNotFoundException.class);
        });
  }

  private static void awaitSent(RunHandle<?> sent) {
    await()
        .atMost(SOON)
        .ignoreExceptionsInstanceOf(RunNotFoundException.class)
        .until(() -> sent.status() != null);
  }
}
