package dev.kagzi.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains a start of the application that failed because it cannot read a table. */
final class MissingTableFailureAnalyzer extends AbstractFailureAnalyzer<MissingTableException> {
  /** Called by Spring. */
  MissingTableFailureAnalyzer() {}

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, MissingTableException cause) {
    return new FailureAnalysis(
        "The application needs a table of Kagzi in its database: " + cause.getMessage() + ".",
        """
        If the table does not exist, add the output of "%s" to the migrations of the application, \
        or to its schema.sql. Spring Boot executes schema.sql for a database that is not in memory \
        if spring.sql.init.mode=always is set."""
            .formatted(cause.command()),
        cause);
  }
}
