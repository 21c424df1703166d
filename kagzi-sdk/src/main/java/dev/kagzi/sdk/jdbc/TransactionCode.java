package dev.kagzi.sdk.jdbc;

import java.sql.Connection;

/** Code that is executed in a transaction and returns a value. */
@FunctionalInterface
public interface TransactionCode<T> {
  /**
   * Executes the code. The transaction is committed after it returns, and rolled back if it throws.
   *
   * @param connection belongs to the transaction; the code must neither commit nor roll back
   */
  T run(Connection connection) throws Exception;
}
