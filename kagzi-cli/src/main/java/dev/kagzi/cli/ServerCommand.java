package dev.kagzi.cli;

import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import dev.kagzi.server.config.ServerOption;
import dev.kagzi.server.config.Settings;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

@Command(
    name = "server",
    description = "Starts a server on your PostgreSQL; several servers can share one database.",
    footer = {
      "",
      "Each option can also be a variable or a line of a file; flags win: --db-url,",
      "KAGZI_DB_URL, db-url=… in kagzi.properties. Passwords and tokens have no flag:",
      "KAGZI_DB_PASSWORD, KAGZI_TOKEN. There are more options: --print-config lists all,",
      "docs/reference.md explains them.",
      "",
      "Ctrl-C or SIGTERM stops it cleanly, with exit code 0. A server that fails ends with",
      "exit code 70, or 3 if Java has run out of memory; the launcher then starts it",
      "again, unless KAGZI_RESTART=no."
    })
final class ServerCommand implements Callable<Integer> {

  private static final Logger log = LoggerFactory.getLogger(ServerCommand.class);

  static final Set<ServerOption> OPTIONS = EnumSet.allOf(ServerOption.class);

  @Spec private CommandSpec spec = CommandSpec.create();

  @Mixin private ServerFlags flags = new ServerFlags();

  @Override
  public Integer call() throws Exception {
    Settings settings = flags.settings(spec.commandLine().getParseResult(), Map.of());
    if (flags.print()) {
      print(ServerFlags.text(settings, OPTIONS));
      return 0;
    }
    Logs.bridge();
    ServerConfig config =
        ServerFlags.asUsageError(
            () -> ServerConfig.builder(settings).onFailure(ProcessEnd::failed).build());
    ServerFlags.checkPorts(config.listen());
    StartedParts started = new StartedParts();
    KagziServer server = started.add("server", KagziServer.start(config));
    Runtime.getRuntime().addShutdownHook(new Thread(started::stopBySignal, "stop"));
    stopWithLauncher(started);
    print(ready(config, server));
    // Waits until stopBySignal or a failure halts this JVM.
    new CountDownLatch(1).await();
    return 0;
  }

  /**
   * Stops the server when the launcher that supervises it has ended; otherwise the server would
   * keep running.
   */
  private static void stopWithLauncher(StartedParts started) {
    Long pid = Long.getLong("kagzi.launcher");
    if (pid != null) {
      ProcessHandle.of(pid)
          .map(ProcessHandle::onExit)
          .orElseGet(() -> CompletableFuture.completedFuture(null))
          .thenRun(
              () -> {
                log.atWarn()
                    .addKeyValue("pid", pid)
                    .log("the launcher has ended, stopping the server");
                started.stopBySignal();
              });
    }
  }

  private static String ready(ServerConfig config, KagziServer server) {
    String host = Banner.shownHost(config.listen().host());
    String scheme = config.listen().tls().isPresent() ? "https" : "http";
    return "Kagzi %s is ready: gRPC on %s:%d, %s://%s:%d"
        .formatted(
            Main.Version.current(), host, server.grpcPort(), scheme, host, server.httpPort());
  }

  private void print(String text) {
    spec.commandLine().getOut().println(text.stripTrailing());
    spec.commandLine().getOut().flush();
  }
}
