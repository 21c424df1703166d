package dev.kagzi.cli;

import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.bridge.SLF4JBridgeHandler;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Starts everything on this machine, and stops everything when told to. */
@Command(
    name = "dev",
    description = "Starts a server with a PostgreSQL of its own, for development.",
    footer = {
      "",
      "Ctrl-C or SIGTERM stops both cleanly, with exit code 0. What was acknowledged",
      "stays, also after kill -9, unless --ephemeral was given."
    })
final class DevCommand implements Callable<Integer> {

  private static final Logger log = LoggerFactory.getLogger(DevCommand.class);

  private static final String DATABASE = "kagzi";

  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup private @Nullable Storage storage;

  @Option(
      names = "--host",
      paramLabel = "ADDRESS",
      defaultValue = "${env:KAGZI_SERVER_HOST:-127.0.0.1}",
      description = "Where to listen (default: ${DEFAULT-VALUE}).")
  private String host = "";

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "${env:KAGZI_SERVER_PORT:-50051}",
      description = "Port for gRPC; 0 picks a free one (default: ${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--http-port",
      paramLabel = "PORT",
      defaultValue = "${env:KAGZI_HTTP_PORT:-8484}",
      description = "Port for HTTP; 0 picks a free one (default: ${DEFAULT-VALUE}).")
  private int httpPort;

  @Option(
      names = "--demo",
      description = "Also run a worker with sample workflows, and keep them going.")
  private boolean demo;

  /** One of the two: data that is kept has a place, other data has none. */
  static final class Storage {

    @Option(
        names = "--data-dir",
        paramLabel = "FOLDER",
        description = "Where the data is kept (default: ~/.local/share/kagzi/dev).")
    private @Nullable Path dataDir;

    @Option(names = "--ephemeral", description = "Forget everything at the end.")
    private boolean ephemeral;
  }

  @Override
  public Integer call() throws Exception {
    long began = System.nanoTime();
    // gRPC logs by java.util.logging.
    SLF4JBridgeHandler.removeHandlersForRootLogger();
    SLF4JBridgeHandler.install();
    Started started = new Started();
    try {
      EmbeddedPostgres postgres = started.add("postgres", startPostgres());
      KagziServer server = started.add("server", startServer(postgres));
      if (demo) {
        started.add("demo", startDemo(server));
      }
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stopBySignal(started), "stop"));
      print(banner(server, postgres).text(System.nanoTime() - began));
      return runUntilPostgresEnds(postgres, started);
    } catch (Exception | Error e) {
      if (started.mayStop()) {
        started.stop();
      }
      throw e;
    }
  }

  private boolean isEphemeral() {
    return storage != null && storage.ephemeral;
  }

  private EmbeddedPostgres startPostgres() {
    EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder();
    if (isEphemeral()) {
      return builder.ephemeral().start();
    }
    Path chosen = storage == null ? null : storage.dataDir;
    return builder
        .dataDir(chosen != null ? chosen : EmbeddedPostgres.defaultDataDir("dev"))
        .start();
  }

  private KagziServer startServer(EmbeddedPostgres postgres) {
    postgres.createDatabaseIfAbsent(DATABASE);
    try {
      return KagziServer.start(
          ServerConfig.builder()
              .host(host)
              .grpcPort(port)
              .httpPort(httpPort)
              .dbUrl(postgres.jdbcUrl(DATABASE))
              .dbUser(postgres.user())
              .dbPassword(postgres.password())
              .autoCreateNamespaces(true)
              .build());
    } catch (RuntimeException e) {
      throw explained(e);
    }
  }

  private RuntimeException explained(RuntimeException failure) {
    if (failure instanceof UncheckedIOException || failure instanceof IllegalArgumentException) {
      return new CliException(String.valueOf(failure.getMessage()), failure);
    }
    for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof BindException) {
        return new CliException(
            "HTTP port: " + host + ":" + httpPort + " (expected: one that is free)", failure);
      }
    }
    return failure;
  }

  /** By the address that we listen on, unless that is every address. */
  private Demo startDemo(KagziServer server) {
    boolean everywhere = host.equals("0.0.0.0") || host.equals("::");
    return Demo.start((everywhere ? "localhost" : host) + ":" + server.grpcPort());
  }

  private Banner banner(KagziServer server, EmbeddedPostgres postgres) {
    return new Banner(
        host,
        server.grpcPort(),
        server.httpPort(),
        postgres.dataDir(),
        isEphemeral(),
        demo,
        new Banner.Postgres(
            postgres.port(),
            postgres.user(),
            DATABASE,
            postgres.passwordFile(),
            postgres.logFile()));
  }

  private void print(String text) {
    spec.commandLine().getOut().println(text);
    spec.commandLine().getOut().flush();
  }

  /** Halting is what turns the JVM's exit code 130 or 143 into the 0 of a clean stop. */
  private static void stopBySignal(Started started) {
    if (started.mayStop()) {
      Runtime.getRuntime().halt(started.stop() ? 0 : 1);
    }
  }

  private static int runUntilPostgresEnds(EmbeddedPostgres postgres, Started started)
      throws Exception {
    postgres.onExit().get();
    if (!started.mayStop()) {
      // Stopped by a signal, whose thread halts this JVM when it is done.
      Thread.currentThread().join();
    }
    log.atError().addKeyValue("log", postgres.logFile()).log("postgres has ended by itself");
    started.stop();
    return 1;
  }
}
