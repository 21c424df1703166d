package dev.kagzi.engine.db;

import java.sql.Connection;
import java.sql.SQLException;

/** Opens plain connections. Tests wrap it to hold a commit open or to cut a connection. */
@FunctionalInterface
public interface ConnectionFactory {
  /** A new connection, in autocommit mode. */
  Connection open() throws SQLException;
}
