package dev.kagzi.sdk.jdbc;

import java.sql.Connection;

/** Code that is executed in a transaction and returns nothing. */
@FunctionalInterface
public interface TransactionAction {
  /** Executes the code, as {@link TransactionCode#run} does. */
  void run(Connection connection) throws Exception;
}
