package dev.kagzi.bench;

import dev.kagzi.engine.EngineMetrics;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import dev.kagzi.server.config.Settings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * The server that is measured, in a process of its own, set up by the environment and otherwise
 * with its defaults. Says its port on the first line, answers each line of input with what the
 * server has counted, and ends with its input. The counters thus need no public door.
 */
public final class ServerMain {
  private ServerMain() {}

  /** Of the environment all but whom to let in: the measuring client shows nothing. */
  private static Settings settings() {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.keySet().removeIf(name -> name.matches("KAGZI_(TOKEN|TLS).*"));
    return Settings.of(Settings.Sources.environment(environment));
  }

  public static void main(String[] args) throws IOException {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    ServerConfig config =
        ServerConfig.builder(settings()).host("127.0.0.1").grpcPort(0).httpPort(0).build();
    try (KagziServer server = KagziServer.start(config)) {
      out.println(server.grpcPort());
      while (in.readLine() != null) {
        out.println(counters(server.engine().meter()));
      }
    }
  }

  /** The statements alone first; the rest is for people. */
  private static String counters(EngineMetrics meter) {
    return "%d commits=%d batches=%d writes=%d handed_over=%d claimed=%d looks=%d fallback=%d"
        .formatted(
            meter.statements().statements(),
            meter.statements().commits(),
            meter.journalBatches(),
            meter.journalWrites(),
            meter.dispatch().handedOver(),
            meter.dispatch().claimed(),
            meter.dispatch().looks(),
            meter.dispatch().fallbackClaimed());
  }
}
