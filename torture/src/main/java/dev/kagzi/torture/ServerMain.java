package dev.kagzi.torture;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.ScheduleConfig;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import dev.kagzi.server.config.Settings;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * A server of the fleet. The environment sets its database. Leases are so short that they end while
 * a worker is paused. Prints its port on the first line.
 */
public final class ServerMain {
  private static final Duration HEARTBEAT = Duration.ofSeconds(1);
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration FIRST_LEASE = Duration.ofSeconds(2);
  private static final Duration STALE = Duration.ofSeconds(5);
  private static final Duration DETACHED = Duration.ofSeconds(2);

  /** The environment variable with the number of late slots that become runs in a second. */
  static final String LATE_PER_TICK = "TORTURE_LATE_PER_TICK";

  private ServerMain() {}

  private static ScheduleConfig schedules() {
    String late = System.getenv(LATE_PER_TICK);
    return late == null
        ? ScheduleConfig.defaults()
        : new ScheduleConfig(ScheduleConfig.defaults().batch(), Integer.parseInt(late));
  }

  /** Uses only the database settings; other variables of the user must not affect the fleet. */
  private static Settings settings() {
    Map<String, String> database = new HashMap<>(System.getenv());
    database.keySet().removeIf(name -> !name.startsWith("KAGZI_DB_"));
    return Settings.of(Settings.Sources.environment(database));
  }

  public static void main(String[] args) throws IOException {
    ServerConfig config =
        ServerConfig.builder(settings())
            .host("127.0.0.1")
            .grpcPort(0)
            .httpPort(0)
            .localCallbacks("torture")
            .engine(
                EngineConfig.defaults()
                    .withWorkers(new WorkerConfig(HEARTBEAT, LEASE, STALE, DETACHED))
                    .withDispatch(DispatchConfig.defaults().withFirstLease(FIRST_LEASE))
                    .withSchedules(schedules()))
            .build();
    KagziServer server;
    try {
      server = KagziServer.start(config);
    } catch (RuntimeException e) {
      // The database is down; the parent process tries again.
      e.printStackTrace();
      Runtime.getRuntime().halt(1);
      return;
    }
    new PrintStream(System.out, true, StandardCharsets.UTF_8).println(server.grpcPort());
    while (System.in.read() >= 0) {
      // Nothing is sent. The input ends when the parent process closes it or ends.
    }
    Runtime.getRuntime().halt(0);
  }
}
