package dev.kagzi.sdk.e2e;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;

/** One server per class, one client and one queue per test. */
@SuppressWarnings("NullAway.Init")
abstract class RealServerTest {
  static final Duration SOON = Duration.ofSeconds(30);

  static RealServer server;

  Kagzi kagzi;
  String queue;
  WorkflowType<String, String> type;

  @BeforeAll
  static void startServer() {
    server = new RealServer();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @BeforeEach
  void connect(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
    type = WorkflowType.of("greet", String.class, String.class).queue(queue);
    kagzi = Kagzi.connect(server.address());
  }

  @AfterEach
  void disconnect() {
    kagzi.close();
  }
}
