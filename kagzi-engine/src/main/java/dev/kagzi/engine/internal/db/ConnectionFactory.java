package dev.kagzi.engine.internal.db;

import java.sql.Connection;
import java.sql.SQLException;

/** Opens the JDBC connections outside of the pool. Tests wrap it to delay or cut them. */
@FunctionalInterface
public interface ConnectionFactory {
  Connection open() throws SQLException;
}
