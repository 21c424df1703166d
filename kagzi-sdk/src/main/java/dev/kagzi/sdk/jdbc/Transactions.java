package dev.kagzi.sdk.jdbc;

import dev.kagzi.sdk.internal.jdbc.DataSourceTransactions;
import java.util.Objects;
import javax.sql.DataSource;

/**
 * How a transactional step opens its transactions. {@link #of} returns the implementation for plain
 * JDBC. Implement this interface for a library that manages connections itself. Implementations
 * must be thread-safe.
 */
public interface Transactions {
  /**
   * Executes the code in a new transaction, in the calling thread.
   *
   * <p>If this method returns, the transaction is committed. If it throws, the transaction was
   * rolled back, or its outcome is unknown, for example because the connection broke during the
   * commit. The code may be executed in further transactions afterwards.
   *
   * @return what the code returned
   */
  <T> T inTransaction(TransactionCode<T> code) throws Exception;

  /**
   * Returns transactions on connections of this data source, with the isolation level that its
   * connections have.
   */
  static Transactions of(DataSource dataSource) {
    return new DataSourceTransactions(Objects.requireNonNull(dataSource, "dataSource"));
  }
}
