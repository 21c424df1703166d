package dev.kagzi.sdk.internal.jdbc;

import dev.kagzi.protocol.v1.StartWorkflowRequest;
import java.sql.SQLException;

/** Writes a start into a table, in the transaction of the caller. */
@FunctionalInterface
public interface StartWriter {
  void write(StartWorkflowRequest start) throws SQLException;
}
