package dev.kagzi.cli;

import dev.kagzi.sdk.jdbc.Dialect;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "sql",
    description =
        "Prints the statements that create a table of Kagzi in your own database, for a migration.",
    footer = {"", "Example:", "  kagzi sql steps --dialect mysql > V7__kagzi_steps.sql"})
final class SqlCommand implements Runnable {

  enum Table {
    STEPS,
    OUTBOX
  }

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      paramLabel = "TABLE",
      description =
          "steps: results of transactional steps (kagzi_steps); outbox: starts and signals that are"
              + " sent after a commit (kagzi_outbox).")
  Table table = Table.STEPS;

  @Option(
      names = "--dialect",
      required = true,
      paramLabel = "DIALECT",
      description = "The database: postgresql, mysql or h2.")
  Dialect dialect = Dialect.POSTGRESQL;

  @Override
  public void run() {
    String statement =
        switch (table) {
          case STEPS -> dialect.stepTable();
          case OUTBOX -> dialect.outboxTable();
        };
    spec.commandLine().getOut().println(statement + ";");
    spec.commandLine().getOut().flush();
  }
}
