package dev.kagzi.engine.internal.db;

import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import org.postgresql.util.PSQLException;

/** The driver's exception together with the statement that failed. */
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

  static String statement(SQLException error) {
    return error instanceof StatementException failed ? failed.statement : "";
  }

  /** Returns some of the ids among the parameters: of runs, workers or schedules. */
  static List<UUID> ids(SQLException error) {
    return error instanceof StatementException failed ? failed.ids : List.of();
  }

  /** Returns the message without its detail, which may quote payloads. */
  static String reason(SQLException error) {
    SQLException cause = error.getCause() instanceof SQLException original ? original : error;
    if (cause instanceof PSQLException postgres && postgres.getServerErrorMessage() != null) {
      return String.valueOf(postgres.getServerErrorMessage().getMessage());
    }
    return String.valueOf(cause.getMessage());
  }
}
