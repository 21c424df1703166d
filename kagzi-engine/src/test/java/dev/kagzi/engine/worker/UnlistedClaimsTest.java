package dev.kagzi.engine.worker;

import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Claims that the heartbeats of their worker do not list: it never received or dropped them. */
class UnlistedClaimsTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final Duration NEVER = Duration.ofHours(1);

  private String queue;
  private TestEngine engine;
  private WorkerId worker;

  @BeforeEach
  void open(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
    engine = start(Duration.ZERO);
    worker = engine.register();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private TestEngine start(Duration heartbeatInterval) {
    EngineConfig config =
        EngineConfig.defaults()
            .withWorkers(new WorkerConfig(heartbeatInterval, Duration.ofMinutes(1), NEVER, NEVER))
            .withDispatch(DispatchConfig.defaults().withFirstLease(Duration.ofMinutes(1)));
    return TestEngine.start(database.config(), queue, config);
  }

  private void restart(Duration heartbeatInterval) {
    engine.close();
    engine = start(heartbeatInterval);
    worker = engine.register();
  }

  private void heartbeat(Claim... claims) {
    await(
        engine
            .engine()
            .workers()
            .heartbeat(new WorkerHeartbeat(worker, List.of(claims), null, 0, 0, null, 0, 0)));
  }

  /** A younger claim may still be in transit to the worker; an older one was dropped by it. */
  @Test
  void an_unlisted_claim_is_released_only_if_it_is_older_than_the_previous_heartbeat() {
    RunId run = engine.start();
    heartbeat();
    Claim claim = engine.claimOne(worker).claim();

    heartbeat();
    RunView afterFirst = engine.run(run);
    heartbeat();
    Task again = engine.claimOne(engine.register());

    assertThat(afterFirst.status()).isEqualTo(RunStatus.RUNNING);
    assertThat(afterFirst.epoch()).isEqualTo(claim.epoch());
    assertThat(again.claim()).isEqualTo(new Claim(run, 2));
    assertThat(engine.run(run).crashes()).isZero();
  }

  @Test
  void a_claim_that_is_no_longer_listed_is_released() {
    RunId run = engine.start();
    Claim claim = engine.claimOne(worker).claim();
    heartbeat(claim);
    heartbeat(claim);

    heartbeat();

    assertThat(engine.claimOne(engine.register()).claim()).isEqualTo(new Claim(run, 2));
    assertThat(engine.run(run).crashes()).isZero();
  }

  @Test
  void a_heartbeat_that_is_sent_again_does_not_release_a_claim_that_it_could_not_list() {
    restart(NEVER);
    engine.start();
    Claim claim = engine.claimOne(worker).claim();

    // The worker made its list before it received the claim, and got no answer.
    heartbeat();
    heartbeat();
    heartbeat();

    // A release would be before this report in the lane of the run.
    assertThat(engine.report(stepDone(claim, "step", "1")))
        .isEqualTo(new ReportResult.Accepted(RunStatus.RUNNING));
  }

  @Test
  void an_unlisted_claim_is_released_when_it_is_one_heartbeat_interval_old() {
    restart(Duration.ofSeconds(1));
    RunId run = engine.start();
    long begun = System.nanoTime();
    engine.claimOne(worker);

    Awaitility.await()
        .until(
            () -> {
              heartbeat();
              return engine.run(run).status() == RunStatus.PENDING;
            });

    assertThat(Duration.ofNanos(System.nanoTime() - begun))
        .isGreaterThanOrEqualTo(Duration.ofSeconds(1));
  }
}
