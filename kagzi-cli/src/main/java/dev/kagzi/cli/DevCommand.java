package dev.kagzi.cli;

import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import dev.kagzi.server.ServerStartException;
import dev.kagzi.server.config.ServerOption;
import dev.kagzi.server.config.Setting;
import dev.kagzi.server.config.Settings;
import dev.kagzi.server.listen.ListenConfig;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Starts a server with PostgreSQL on this machine, and stops both on a signal. */
@Command(
    name = "dev",
    description = "Starts a server with its own PostgreSQL, for development.",
    footer = {
      "",
      "Each option can also be a variable or a line of a file: --port, KAGZI_SERVER_PORT,",
      "port=… in kagzi.properties. --print-config shows all, docs/reference.md explains",
      "them.",
      "",
      "Ctrl-C or SIGTERM stops both cleanly, with exit code 0. Acknowledged data is kept,",
      "also after kill -9, unless --ephemeral is given."
    })
final class DevCommand implements Callable<Integer> {

  private static final Logger log = LoggerFactory.getLogger(DevCommand.class);

  private static final String DATABASE = "kagzi";

  /** Options of {@code kagzi server} that have no effect, because dev starts its own database. */
  private static final Set<ServerOption> UNUSED =
      EnumSet.of(
          ServerOption.DB_URL,
          ServerOption.DB_USER,
          ServerOption.DB_PASSWORD,
          ServerOption.MIGRATE_ON_START);

  static final Set<ServerOption> OPTIONS = EnumSet.complementOf(EnumSet.copyOf(UNUSED));

  /** Defaults that differ from {@code kagzi server}. */
  static final Map<ServerOption, String> DEFAULTS =
      Map.of(ServerOption.REFLECTION, "true", ServerOption.AUTO_CREATE_NAMESPACES, "true");

  @Spec private CommandSpec spec = CommandSpec.create();

  @ArgGroup private @Nullable Storage storage;

  @Mixin private ServerFlags flags = new ServerFlags();

  @Option(
      names = "--demo",
      description = "Also run a worker with sample workflows, and start runs of them.")
  private boolean demo;

  /** Either a folder for data that is kept, or ephemeral data. */
  static final class Storage {

    @Option(
        names = "--data-dir",
        paramLabel = "FOLDER",
        description = "The folder of the data (default: ~/.local/share/kagzi/dev).")
    private @Nullable Path dataDir;

    @Option(names = "--ephemeral", description = "Delete all data at the end.")
    private boolean ephemeral;
  }

  @Override
  public Integer call() throws Exception {
    long began = System.nanoTime();
    Settings settings = flags.settings(spec.commandLine().getParseResult(), DEFAULTS);
    if (flags.print()) {
      print(ServerFlags.text(settings, OPTIONS).stripTrailing());
      return 0;
    }
    Logs.bridge();
    warnOfUnused(settings);
    // Checks the configuration first, because starting PostgreSQL takes a while.
    ServerConfig.Builder config = ServerFlags.asUsageError(() -> ServerConfig.builder(settings));
    ServerFlags.checkPorts(ServerFlags.asUsageError(config::listen));
    StartedParts started = new StartedParts();
    try {
      EmbeddedPostgres postgres = started.add("postgres", startPostgres());
      KagziServer server = started.add("server", startServer(postgres, config));
      if (demo) {
        started.add("demo", Demo.start(server.inProcessName()));
      }
      Runtime.getRuntime().addShutdownHook(new Thread(started::stopBySignal, "stop"));
      print(banner(config.listen(), server, postgres).text(System.nanoTime() - began));
      return runUntilPostgresEnds(postgres, started);
    } catch (Exception | Error e) {
      if (started.mayStop()) {
        started.stop();
      }
      throw e;
    }
  }

  private static void warnOfUnused(Settings settings) {
    for (ServerOption option : UNUSED) {
      if (settings.get(option).source() != Setting.Source.DEFAULT) {
        log.atWarn()
            .addKeyValue("option", option.key())
            .addKeyValue("from", settings.get(option).where())
            .log("option ignored: dev starts its own database, the option is for kagzi server");
      }
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

  private static KagziServer startServer(EmbeddedPostgres postgres, ServerConfig.Builder config) {
    postgres.createDatabaseIfAbsent(DATABASE);
    try {
      return KagziServer.start(
          config
              .dbUrl(postgres.jdbcUrl(DATABASE))
              .dbUser(postgres.user())
              .dbPassword(postgres.password())
              .migrateOnStart(true)
              .localCallbacks(postgres.password())
              .onFailure(ProcessEnd::failed)
              .build());
    } catch (ServerStartException e) {
      if (!e.isOfSchema()) {
        throw e;
      }
      throw new CliException(
          "%s; the data is in %s, and --data-dir FOLDER starts with an empty one"
              .formatted(e.getMessage(), postgres.dataDir()),
          e);
    }
  }

  private Banner banner(ListenConfig listen, KagziServer server, EmbeddedPostgres postgres) {
    return new Banner(
        listen.host(),
        server.grpcPort(),
        server.httpPort(),
        listen.tls().isPresent(),
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

  private static int runUntilPostgresEnds(EmbeddedPostgres postgres, StartedParts started)
      throws Exception {
    postgres.onExit().get();
    if (!started.mayStop()) {
      // A signal has begun to stop the parts. Its thread halts this JVM afterwards.
      Thread.currentThread().join();
    }
    log.atError().addKeyValue("log", postgres.logFile()).log("postgres has ended by itself");
    started.stop();
    return 1;
  }
}
