package dev.kagzi.bench;

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
 * The measured server, in its own process, configured by the environment and otherwise with its
 * defaults. Prints its ports on the first line, and answers each line of input with the server's
 * counters, so that these need no public endpoint. Ends when its input is closed.
 */
public final class ServerMain {
  private ServerMain() {}

  /**
   * Uses the environment without tokens and TLS, because the measuring client has no credentials.
   */
  static Settings settings() {
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
      out.println(server.grpcPort() + " " + server.httpPort());
      while (in.readLine() != null) {
        out.println(ServerCounts.of(server.engine().metrics()).encode());
      }
    }
  }
}
