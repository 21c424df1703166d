package dev.kagzi.engine.db;

import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import org.postgresql.util.PSQLException;

/** A statement failed: the same as the driver's exception, and which statement it was. */
final class StatementException extends SQLException {
  private static final long serialVersionUID = 1L;
  private static final int STATEMENT_LENGTH_MAX = 1_000;

  private final String statement;
  private final transient List<UUID> ids;

  StatementException(SQLException cause, String statement, List<UUID> ids) {
    super(cause.getMessage(), cause.getSQLState(), cause.getErrorCode(), cause);
    String line = statement.replaceAll("\\s+", " ").strip();
    this.statement =
        line.length() <= STATEMENT_LENGTH_MAX
            ? line
            : line.substring(0, STATEMENT_LENGTH_MAX) + "...";
    this.ids = List.copyOf(ids);
  }

  /** On one line, without the values of its parameters. */
  static String statement(SQLException error) {
    return error instanceof StatementException failed ? failed.statement : "";
  }

  /** Some of the ids that the statement was given: of runs, workers, schedules. */
  static List<UUID> ids(SQLException error) {
    return error instanceof StatementException failed ? failed.ids : List.of();
  }

  /**
   * What PostgreSQL said, without its details: those may quote a whole row, and payloads do not
   * belong into a log.
   */
  static String reason(SQLException error) {
    SQLException cause = error.getCause() instanceof SQLException original ? original : error;
    if (cause instanceof PSQLException postgres && postgres.getServerErrorMessage() != null) {
      return String.valueOf(postgres.getServerErrorMessage().getMessage());
    }
    return String.valueOf(cause.getMessage());
  }
}
