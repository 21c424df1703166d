package dev.kagzi.spring;

import dev.kagzi.sdk.jdbc.Dialect;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** A table that the application's database must have cannot be read. */
final class MissingTableException extends IllegalStateException {
  private static final long serialVersionUID = 1;

  private final String command;

  private MissingTableException(String message, String command, SQLException cause) {
    super(message, cause);
    this.command = command;
  }

  /**
   * Creates the exception.
   *
   * @param user what uses the table
   * @param table the table without its prefix, as in {@code kagzi sql outbox}
   */
  static MissingTableException of(
      String user, String table, DataSource dataSource, SQLException cause) {
    String command = "kagzi sql %s --dialect %s".formatted(table, dialect(dataSource));
    return new MissingTableException(
        "%s, but kagzi_%s cannot be read: %s (expected: the table that `%s` prints)"
            .formatted(user, table, cause.getMessage(), command),
        command,
        cause);
  }

  private static String dialect(DataSource dataSource) {
    try (Connection connection = dataSource.getConnection()) {
      return Dialect.of(connection).toString();
    } catch (SQLException | RuntimeException e) {
      return "DIALECT";
    }
  }

  /** The command that prints the table. */
  String command() {
    return command;
  }
}
