package dev.kagzi.server;

import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.engine.value.SchemaException;
import dev.kagzi.engine.value.UnreachableServerException;
import dev.kagzi.server.listen.ListenConfig;
import java.net.BindException;
import java.sql.SQLException;
import java.util.Optional;

/** Explains in one line why a server did not start, for expected reasons. */
final class StartupErrors {
  private static final String NO_DATABASE = "3D000";
  private static final String NO_PERMISSION = "42501";

  private StartupErrors() {}

  /** Returns {@code failure} itself if it cannot be explained. */
  static RuntimeException ofDatabase(DatabaseConfig database, RuntimeException failure) {
    if (failure instanceof SchemaException || failure instanceof UnreachableServerException) {
      return new ServerStartException(String.valueOf(failure.getMessage()), failure);
    }
    return cause(failure, SQLException.class)
        .<RuntimeException>map(cause -> new ServerStartException(explain(database, cause), failure))
        .orElse(failure);
  }

  private static String explain(DatabaseConfig database, SQLException cause) {
    String state = cause.getSQLState() == null ? "" : cause.getSQLState();
    String expected =
        switch (state) {
          case NO_DATABASE -> "a database that was created";
          case NO_PERMISSION ->
              "a role that may migrate, or a server with --migrate-on-start=false";
          default -> state.startsWith("28") ? "a user and a password that PostgreSQL lets in" : "";
        };
    if (state.startsWith("08")) {
      expected = "a PostgreSQL that answers there";
    }
    // Errors of our own checks already contain what was expected.
    return "database: %s as %s: %s%s"
        .formatted(
            DatabaseConfig.masked(database.jdbcUrl()),
            database.user(),
            firstLine(cause),
            expected.isEmpty() ? "" : " (expected: " + expected + ")");
  }

  private static String firstLine(SQLException cause) {
    // The driver's message repeats a URL that it cannot parse, password included.
    return DatabaseConfig.masked(String.valueOf(cause.getMessage()).lines().findFirst().orElse(""));
  }

  static RuntimeException ofPort(ListenConfig listen, String flag, int port, Exception failure) {
    Throwable cause = failure;
    Optional<BindException> bind = cause(failure, BindException.class);
    if (bind.isPresent()) {
      cause = bind.get();
    }
    IllegalArgumentException taken = listen.portTaken(flag, port, cause);
    return new ServerStartException(String.valueOf(taken.getMessage()), failure);
  }

  private static <T extends Throwable> Optional<T> cause(Throwable failure, Class<T> type) {
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (type.isInstance(each)) {
        return Optional.of(type.cast(each));
      }
    }
    return Optional.empty();
  }
}
