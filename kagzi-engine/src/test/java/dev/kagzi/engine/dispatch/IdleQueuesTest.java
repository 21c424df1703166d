package dev.kagzi.engine.dispatch;

import static dev.kagzi.engine.TestEngine.TYPE;
import static dev.kagzi.engine.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.WatchedConnector;
import dev.kagzi.engine.config.DispatchConfig;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.dispatch.ClaimRuns;
import dev.kagzi.engine.value.RunId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The check of idle queues for runs whose event was lost. */
class IdleQueuesTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final Duration WATCHED = Duration.ofSeconds(3);
  private static final int QUEUES = 20;

  /** In {@link #WATCHED}, a server that is alone sends two checks, another one sends six. */
  private static final int CHECKS_ALONE_MAX = 3;

  private WatchedConnector connections;
  private String prefix;
  private TestEngine engine;
  private final List<Poll> polls = new ArrayList<>();

  @BeforeEach
  void open(TestInfo test) {
    prefix = test.getTestMethod().orElseThrow().getName();
    connections = new WatchedConnector(() -> Database.connect(database.config()));
    engine = TestEngine.start(database.config(), prefix, config(), connections);
    for (int i = 0; i < QUEUES; i++) {
      TestEngine queue = engine.onQueue(prefix + i);
      polls.add(
          engine
              .engine()
              .tasks()
              .poll(
                  new PollRequest(
                      queue.queue(),
                      queue.register(),
                      List.of(new PollRequest.Wanted(TYPE, "", 0)),
                      1,
                      120_000)));
    }
  }

  @AfterEach
  void close() {
    engine.close();
  }

  /** Checks every half second, and every 1.5 seconds if the server is alone. */
  private static EngineConfig config() {
    DispatchConfig defaults = DispatchConfig.defaults();
    Duration never = Duration.ofHours(1);
    return EngineConfig.defaults()
        .withWorkers(new WorkerConfig(Duration.ofSeconds(3), Duration.ofMinutes(1), never, never))
        .withDispatch(
            new DispatchConfig(
                Duration.ofMinutes(2),
                defaults.firstLease(),
                Duration.ofMillis(500),
                defaults.keepSlots(),
                defaults.answerBytesMax(),
                defaults.claimers()));
  }

  /** No event announces the run. */
  private RunId insert(String queue) {
    RunId run = RunId.next();
    database.execute(
        """
        INSERT INTO kagzi.workflow_runs
               (run_id, namespace, task_queue, workflow_type, version, status, available_at, created_at)
        VALUES ('%s', 'default', '%s', '%s', '', 'PENDING', kagzi.clock(), kagzi.clock())
        """
            .formatted(run, queue, TYPE));
    return run;
  }

  private long checks() {
    return connections.byClaimers().stream()
        .filter(sent -> sent.sql().equals(ClaimRuns.NEXT_DUE_SQL))
        .count();
  }

  private long checksWhileWatched() {
    long before = checks();
    Awaitility.await().pollDelay(WATCHED).until(() -> true);
    return checks() - before;
  }

  private void awaitChecks(long max) {
    Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> checksWhileWatched() <= max);
  }

  @Test
  void one_statement_checks_all_idle_queues_and_finds_the_runs_of_each() {
    awaitChecks(QUEUES / 2);
    RunId first = insert(prefix + 3);
    RunId second = insert(prefix + 17);

    assertThat(await(polls.get(3).tasks()).getFirst().claim().runId()).isEqualTo(first);
    assertThat(await(polls.get(17).tasks()).getFirst().claim().runId()).isEqualTo(second);
    assertThat(engine.engine().metrics().dispatch().fallbackClaimed()).isEqualTo(2);
    assertThat(polls.stream().filter(poll -> poll.tasks().isDone())).hasSize(2);
  }

  /** The message of another server may be lost. */
  @Test
  void a_server_that_is_not_alone_any_more_checks_idle_queues_at_the_configured_interval() {
    awaitChecks(CHECKS_ALONE_MAX);

    try (TestEngine other = TestEngine.start(database.config(), "other", config())) {
      // The announcement of the other server makes the queues claim, so they are not idle at first.
      awaitChecks(QUEUES / 2);
      assertThat(other.engine().unavailableReason()).isEmpty();
      assertThat(checksWhileWatched()).isBetween(CHECKS_ALONE_MAX + 1L, QUEUES / 2L);
    }
  }
}
