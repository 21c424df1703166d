package dev.kagzi.sdk;

import dev.kagzi.sdk.fake.FakeServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Base class: a client and an in-memory server for each test. */
abstract class FakeServerTest {
  static final Duration SOON = Duration.ofSeconds(10);

  static final WorkflowType<String, String> GREET =
      WorkflowType.of("greet", String.class, String.class);

  @SuppressWarnings("NullAway.Init")
  FakeServer server;

  @SuppressWarnings("NullAway.Init")
  Kagzi kagzi;

  @BeforeEach
  void connect() {
    server = new FakeServer();
    kagzi = Kagzi.connect(server.address());
  }

  @AfterEach
  void disconnect() {
    kagzi.close();
    server.close();
  }

  WorkerBuilder worker(Workflow<String, String> code) {
    return kagzi.worker().workflow(GREET, code).drainTimeout(Duration.ofSeconds(5));
  }

  RunHandle<String> start() {
    return kagzi.workflow(GREET).start("Ada");
  }

  int epoch(RunHandle<?> run) {
    return server.state.with(run.runId(), r -> r.epoch);
  }

  List<String> steps(RunHandle<?> run) {
    return server.state.with(run.runId(), r -> List.copyOf(r.steps.keySet()));
  }

  List<Long> releasedDelaysMs(RunHandle<?> run) {
    return server.state.with(run.runId(), r -> List.copyOf(r.releasedDelaysMs));
  }

  String blockedBy(RunHandle<?> run) {
    return server.state.with(run.runId(), r -> String.valueOf(r.blockedBy));
  }
}
