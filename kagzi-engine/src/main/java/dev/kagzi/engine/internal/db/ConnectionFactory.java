package dev.kagzi.engine.internal.db;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Opens the JDBC connections that are not in the pool. Tests wrap it to delay a commit or to cut a
 * connection.
 */
@FunctionalInterface
public interface ConnectionFactory {
  Connection open() throws SQLException;
}
