package dev.kagzi.cli;

import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Commands against a server in this process, with a worker whose payments succeed or fail. */
@SuppressWarnings("NullAway.Init")
abstract class ServedCommandTest {
  static final Duration SOON = Duration.ofSeconds(30);

  static final WorkflowType<String, String> PAY =
      WorkflowType.of("pay", String.class, String.class).queue("payments");

  static final WorkflowType<String, String> NOBODY_SERVES =
      WorkflowType.of("nobody-serves", String.class, String.class);

  static Kagzi kagzi;
  private static KagziServer server;

  final StringWriter out = new StringWriter();
  final StringWriter err = new StringWriter();

  @BeforeAll
  static void open() {
    var postgres = SharedPostgres.server();
    server =
        KagziServer.start(
            ServerConfig.builder()
                .dbUrl(postgres.jdbcUrl(SharedPostgres.createDatabase()))
                .dbUser(postgres.user())
                .dbPassword(postgres.password())
                .unsafeDatabase()
                .grpcPort(0)
                .httpPort(0)
                .localCallbacks("cli")
                .build());
    kagzi = Kagzi.connect(address());
  }

  @AfterAll
  static void close() {
    kagzi.close();
    server.close();
  }

  static String address() {
    return "127.0.0.1:" + server.grpcPort();
  }

  /** Runs {@code kagzi workflow ...} on that server; returns the exit code. */
  int workflow(String... args) {
    return kagzi("workflow", args);
  }

  /** Runs {@code kagzi GROUP ...} on that server; returns the exit code. */
  int kagzi(String group, String... args) {
    List<String> all = new ArrayList<>(List.of(group));
    all.addAll(List.of(args));
    all.addAll(List.of("--address", address()));
    return execute(all.toArray(String[]::new));
  }

  /** Runs {@code kagzi ...} without an address; returns the exit code. */
  int execute(String... args) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    return Main.commandLine(CommandTree.of(args))
        .setOut(new PrintWriter(out))
        .setErr(new PrintWriter(err))
        .execute(args);
  }

  /** Returns the printed JSON. */
  JsonNode json() {
    return JsonMapper.builder().build().readTree(out.toString());
  }
}
