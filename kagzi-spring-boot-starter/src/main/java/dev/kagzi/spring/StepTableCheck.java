package dev.kagzi.spring;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Fails the start of an application that uses {@link SpringTransactions} and lacks its table:
 * otherwise each transactional step would fail later. An application that injects it nowhere needs
 * no table.
 */
final class StepTableCheck implements SmartInitializingSingleton {
  private final ConfigurableListableBeanFactory beans;
  private final String transactions;
  private final DataSource dataSource;

  /**
   * Creates a check.
   *
   * @param transactions the name of the {@link SpringTransactions} bean; if no other bean depends
   *     on it, nothing is checked
   */
  StepTableCheck(
      ConfigurableListableBeanFactory beans, String transactions, DataSource dataSource) {
    this.beans = beans;
    this.transactions = transactions;
    this.dataSource = dataSource;
  }

  /**
   * Spring calls this after all beans are created, and so after migrations, which run while beans
   * are created.
   */
  @Override
  public void afterSingletonsInstantiated() {
    String[] users = beans.getDependentBeans(transactions);
    if (users.length == 0) {
      return;
    }
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.executeQuery("SELECT count(*) FROM kagzi_steps WHERE 1 = 0").close();
    } catch (SQLException e) {
      throw MissingTableException.of(
          "the bean %s uses SpringTransactions".formatted(users[0]), "steps", dataSource, e);
    }
  }
}
