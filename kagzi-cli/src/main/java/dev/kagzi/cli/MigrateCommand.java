package dev.kagzi.cli;

import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import dev.kagzi.server.config.ServerOption;
import dev.kagzi.server.config.Settings;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

@Command(
    name = "migrate",
    description = "Creates or migrates the tables of a database, and exits.",
    footer = {
      "",
      "For servers that run with --migrate-on-start=false, as a role with fewer rights:",
      "docs/operating.md."
    })
final class MigrateCommand implements Callable<Integer> {

  static final Set<ServerOption> OPTIONS =
      EnumSet.of(
          ServerOption.DB_URL,
          ServerOption.DB_USER,
          ServerOption.DB_PASSWORD,
          ServerOption.LOG_LEVEL);

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private ServerFlags flags = new ServerFlags();

  @Override
  public Integer call() {
    Settings settings = flags.settings(spec.commandLine().getParseResult(), Map.of());
    if (flags.print()) {
      print(ServerFlags.text(settings, OPTIONS).stripTrailing());
      return 0;
    }
    String version =
        ServerFlags.asUsageError(() -> KagziServer.migrate(ServerConfig.builder(settings)));
    print("database schema: version " + version);
    return 0;
  }

  private void print(String text) {
    spec.commandLine().getOut().println(text);
    spec.commandLine().getOut().flush();
  }
}
