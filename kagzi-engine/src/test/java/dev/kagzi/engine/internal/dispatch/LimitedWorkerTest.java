package dev.kagzi.engine.internal.dispatch;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.WatchedConnector;
import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.WorkerRegistration;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A worker at its limit while more runs are due: no busy loop, and no long wait below the limit.
 */
class LimitedWorkerTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final Duration WATCHED = Duration.ofSeconds(4);

  // The retry delay starts at 20 ms and doubles up to one second.
  private static final long CLAIM_ROUNDS_MAX = 15;
  private static final long STATEMENTS_MAX = 15 * 10;

  private WatchedConnector connections;
  private TestEngine engine;
  private String queue;

  @BeforeEach
  void open(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
    Duration never = Duration.ofHours(1);
    connections = new WatchedConnector(() -> Database.connect(database.config()));
    engine =
        TestEngine.start(
            database.config(),
            queue,
            EngineConfig.defaults()
                .withWorkers(
                    new WorkerConfig(Duration.ofSeconds(3), Duration.ofMinutes(1), never, never))
                .withDispatch(
                    DispatchConfig.defaults()
                        .withFallbackInterval(never)
                        .withFirstLease(Duration.ofMinutes(1))),
            connections);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  private WorkerId register(String type, Map<String, Integer> limits) {
    return await(
        engine
            .engine()
            .workers()
            .register(
                new WorkerRegistration(
                    engine.queue(),
                    List.of(new TypeVersion(type, "")),
                    true,
                    "host",
                    1,
                    "",
                    Map.of(),
                    null,
                    limits,
                    ""),
                null));
  }

  private Poll pollOne(WorkerId worker) {
    return engine.engine().tasks().pollOne(engine.queue(), worker, List.of(TYPE), 0);
  }

  private Poll poll(WorkerId worker, String type, int typeMax) {
    List<PollRequest.Wanted> types = List.of(new PollRequest.Wanted(type, "", typeMax));
    return engine.engine().tasks().poll(new PollRequest(engine.queue(), worker, types, 5, 60_000));
  }

  private void start(String type) {
    await(
        engine
            .engine()
            .runs()
            .start(
                new StartRequest(
                    NAMESPACE, "", queue, type, "", payload("1"), null, null, StartOptions.NONE)));
  }

  private long claimRounds() {
    return engine.engine().metrics().dispatch().claimRounds();
  }

  private long statements() {
    return connections.byClaimers().stream().filter(WatchedConnector.Sent::isStatement).count();
  }

  private static void watch(Duration time) {
    Awaitility.await().pollDelay(time).atMost(time.plusSeconds(10)).until(() -> true);
  }

  /** The claims of the healthy worker must not reset the back-off of the limited one. */
  @Test
  void a_worker_at_its_limit_causes_no_busy_loop_of_claim_queries() {
    WorkerId limited = register(TYPE, Map.of(TYPE, 1));
    Poll other = poll(register("other", Map.of()), "other", 0);
    start(TYPE);
    start(TYPE);
    Task first = await(pollOne(limited).tasks()).get(0);

    long claimRounds = claimRounds();
    long statements = statements();
    Poll second = pollOne(limited);
    watch(WATCHED);

    assertThat(second.tasks()).isNotDone();
    assertThat(claimRounds() - claimRounds).isBetween(2L, CLAIM_ROUNDS_MAX);
    assertThat(statements() - statements).isLessThanOrEqualTo(STATEMENTS_MAX);
    engine.report(done(first.claim(), "1"));
    assertThat(await(second.tasks())).hasSize(1);
    assertThat(other.tasks()).isNotDone();
  }

  /** A busy machine may delay one of three rounds; a delay of the engine would affect all. */
  @Test
  void a_worker_that_drops_below_its_limit_gets_the_next_run_at_once() {
    WorkerId limited = register(TYPE, Map.of(TYPE, 1));
    for (int i = 0; i < 4; i++) {
      start(TYPE);
    }
    Task held = await(pollOne(limited).tasks()).get(0);
    Duration limit = Duration.ofMillis(400);

    Duration took = Duration.ofDays(1);
    for (int round = 0; round < 3 && took.compareTo(limit) >= 0; round++) {
      Poll next = pollOne(limited);
      awaitSlowClaim();
      long freedAt = System.nanoTime();
      engine.report(done(held.claim(), "1"));
      held = await(next.tasks()).get(0);
      took = Duration.ofNanos(System.nanoTime() - freedAt);
    }

    assertThat(took).isLessThan(limit);
  }

  /** Waits until the retry delay is at its maximum and a claim query has just ended. */
  private void awaitSlowClaim() {
    int slow = 0;
    awaitEmptyClaim();
    while (slow < 2) {
      long last = System.nanoTime();
      awaitEmptyClaim();
      slow = System.nanoTime() - last > Duration.ofMillis(800).toNanos() ? slow + 1 : 0;
    }
  }

  /** A claim query that found no run is followed by the query of the next due time. */
  private void awaitEmptyClaim() {
    long before = emptyClaims();
    Awaitility.await().pollInterval(Duration.ofMillis(5)).until(() -> emptyClaims() > before);
  }

  private long emptyClaims() {
    return connections.byClaimers().stream()
        .filter(sent -> sent.sql().equals(ClaimRuns.NEXT_DUE_SQL))
        .count();
  }

  @Test
  void a_poll_whose_type_limit_is_used_up_causes_no_query_and_the_next_poll_takes_the_run() {
    WorkerId worker = register(TYPE, Map.of());
    engine.settle(worker);
    Poll first = poll(worker, TYPE, 1);
    Poll second = poll(worker, TYPE, 1);
    start(TYPE);
    assertThat(await(first.tasks())).hasSize(1);

    start(TYPE);
    long claimRounds = claimRounds();
    long statements = statements();
    watch(Duration.ofSeconds(1));
    long rounds = claimRounds() - claimRounds;
    long sent = statements() - statements;
    boolean early = second.tasks().isDone();
    RunId due = engine.start();
    Poll third = poll(worker, TYPE, 2);

    assertThat(early).isFalse();
    assertThat(rounds).isLessThanOrEqualTo(2);
    assertThat(sent).isZero();
    assertThat(await(second.tasks())).hasSize(2).anyMatch(task -> task.claim().runId().equals(due));
    assertThat(third.tasks()).isNotDone();
  }
}
