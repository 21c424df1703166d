package dev.kagzi.spring;

import dev.kagzi.sdk.jdbc.TransactionCode;
import dev.kagzi.sdk.jdbc.Transactions;
import java.sql.Connection;
import java.util.Objects;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Executes transactional steps in Spring's transactions. {@code JdbcTemplate} and
 * {@code @Transactional} methods that the step's code calls join the transaction. JPA repositories
 * join it if the transaction manager exposes its connection, as that of Hibernate does.
 *
 * <pre>{@code
 * ctx.transaction("debit", transactions, connection -> accounts.debit(order));
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class SpringTransactions implements Transactions {
  private final TransactionOperations template;
  private final DataSource dataSource;

  /**
   * Creates transactions of a template. The auto-configured bean uses the only or primary
   * transaction manager and data source of the application.
   *
   * @param template a {@code TransactionTemplate}, whose manager uses the data source. Its
   *     propagation should be {@code PROPAGATION_REQUIRES_NEW}
   */
  public SpringTransactions(TransactionOperations template, DataSource dataSource) {
    this.template = Objects.requireNonNull(template, "template");
    this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
  }

  @Override
  // Null is a result.
  @SuppressWarnings("NullAway")
  public <T> T inTransaction(TransactionCode<T> code) throws Exception {
    try {
      return template.execute(status -> run(code, status));
    } catch (CodeFailedException e) {
      throw e.checked;
    }
  }

  private <T> T run(TransactionCode<T> code, TransactionStatus status) {
    if (!status.isNewTransaction()) {
      throw new IllegalStateException(
          "the step's template did not begin a transaction (expected: a TransactionTemplate with PROPAGATION_REQUIRES_NEW)");
    }
    Connection connection = DataSourceUtils.getConnection(dataSource);
    try {
      TransactionConnections.check(connection, dataSource);
      T result = code.run(connection);
      if (status.isRollbackOnly()) {
        throw new IllegalStateException(
            "the code of the step returned, but its transaction is marked for rollback (expected: the code throws, or the transaction can be committed)");
      }
      return result;
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new CodeFailedException(e);
    } finally {
      DataSourceUtils.releaseConnection(connection, dataSource);
    }
  }

  /** Carries a checked exception through the template, which rolls back. */
  private static final class CodeFailedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient Exception checked;

    CodeFailedException(Exception checked) {
      super(checked);
      this.checked = checked;
    }
  }
}
