package dev.kagzi.engine.query;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.TestClock;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerHeartbeat;
import dev.kagzi.engine.worker.WorkerRegistration;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * An engine whose chores do nothing by themselves during a test, so that a run stays in the state
 * that the test brings it into.
 */
abstract class ExplainFixture {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  final TestClock clock = new TestClock(database);
  TestEngine engine;
  String queue;

  @BeforeEach
  void open(TestInfo test) {
    database.forgetRuns();
    queue = test.getTestMethod().orElseThrow().getName();
    engine =
        TestEngine.start(
            database.config(),
            queue,
            EngineConfig.defaults().withCoordinatorInterval(Duration.ofMinutes(1)));
  }

  @AfterEach
  void close() {
    engine.close();
    clock.reset();
  }

  final Explanation explain(RunId run) {
    return engine.engine().queries().explain(NAMESPACE, run);
  }

  /** Returns the first cause, and checks that it is this one. */
  final WaitCause first(RunId run, WaitCause.Code code) {
    WaitCause cause = explain(run).causes().getFirst();
    assertThat(cause.code()).as(cause.text()).isEqualTo(code);
    return cause;
  }

  final List<WaitCause.Code> codes(RunId run) {
    return explain(run).causes().stream().map(WaitCause::code).toList();
  }

  final RunId start(String type, String version) {
    StartRequest request =
        new StartRequest(
            NAMESPACE, "", queue, type, version, payload("1"), null, null, StartOptions.NONE);
    return await(engine.engine().runs().start(request)).runId();
  }

  final WorkerId register(
      List<TypeVersion> served, @Nullable Integer limit, Map<String, Integer> typeLimits) {
    return await(
        engine
            .engine()
            .workers()
            .register(
                new WorkerRegistration(
                    engine.queue(),
                    served,
                    false,
                    "host-7",
                    77,
                    "",
                    Map.of(),
                    limit,
                    typeLimits,
                    ""),
                null));
  }

  final WorkerId registerWithSlots(int slots) {
    return register(List.of(new TypeVersion(TYPE, "")), slots, Map.of());
  }

  final void heartbeat(WorkerId worker, Claim... claims) {
    await(
        engine
            .engine()
            .workers()
            .heartbeat(
                new WorkerHeartbeat(worker, List.of(claims), claims.length, 0, 0, null, 0, 0)));
  }

  static WaitCause.Ref ref(WaitCause.RefKind kind, Object id) {
    return new WaitCause.Ref(kind, id.toString());
  }
}
