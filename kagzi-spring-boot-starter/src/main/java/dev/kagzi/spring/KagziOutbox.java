package dev.kagzi.spring;

import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.WorkflowStarter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import javax.sql.DataSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.SQLStateSQLExceptionTranslator;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Starts and signals runs with the commit of the current transaction of Spring: they are written to
 * the table {@code kagzi_outbox} of the application's database, and sent after the commit. Needs
 * {@code kagzi.outbox.enabled=true}. Thread-safe.
 *
 * <pre>{@code
 * @Transactional
 * public void place(Order order) {
 *   orders.save(order);
 *   outbox.start(kagzi.workflow(PROCESS_ORDER).id(order.id()), order);
 * }
 * }</pre>
 */
public final class KagziOutbox {
  private final DataSource dataSource;

  /** Creates an outbox in the database of this data source. */
  public KagziOutbox(DataSource dataSource) {
    this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
  }

  /**
   * Starts a run if and only if the current transaction commits: {@link
   * WorkflowStarter#startInOutbox}.
   *
   * @throws IllegalStateException if there is no transaction of this data source
   * @throws DataAccessException if the row cannot be inserted
   */
  public <I, O> RunHandle<O> start(WorkflowStarter<I, O> starter, I input) {
    return inTransaction("start", connection -> starter.startInOutbox(connection, input));
  }

  /**
   * Sends a signal if and only if the current transaction commits: {@link
   * RunHandle#signalInOutbox}.
   *
   * @throws IllegalStateException if there is no transaction of this data source
   * @throws DataAccessException if the row cannot be inserted
   */
  public <T> void signal(RunHandle<?> run, Signal<T> signal, T value) {
    RunHandle<?> unused =
        inTransaction(
            "signal",
            connection -> {
              run.signalInOutbox(connection, signal, value);
              return run;
            });
  }

  private interface Write<T> {
    T to(Connection connection) throws SQLException;
  }

  private <T> T inTransaction(String method, Write<T> write) {
    if (!TransactionSynchronizationManager.isActualTransactionActive()) {
      throw new IllegalStateException(
          "KagziOutbox.%s: called without a transaction (expected: in a method with @Transactional)"
              .formatted(method));
    }
    Connection connection = DataSourceUtils.getConnection(dataSource);
    try {
      TransactionConnections.check(connection, dataSource);
      return write.to(connection);
    } catch (SQLException e) {
      throw translated(method, e);
    } finally {
      DataSourceUtils.releaseConnection(connection, dataSource);
    }
  }

  private static DataAccessException translated(String method, SQLException failed) {
    String task = "KagziOutbox." + method;
    DataAccessException known = new SQLStateSQLExceptionTranslator().translate(task, null, failed);
    return known != null ? known : new UncategorizedSQLException(task, null, failed);
  }
}
