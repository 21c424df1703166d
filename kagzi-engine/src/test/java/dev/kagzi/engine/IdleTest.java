package dev.kagzi.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.dispatch.Poll;
import dev.kagzi.engine.dispatch.PollRequest;
import dev.kagzi.engine.metrics.StatementMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The cost of an idle engine. */
class IdleTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final Duration WATCHED = Duration.ofSeconds(5);

  @Test
  void an_idle_engine_sends_less_than_one_statement_a_second() {
    // The workers of this test send no heartbeats: they must not become stale.
    Duration never = Duration.ofHours(1);
    EngineConfig config =
        EngineConfig.defaults()
            .withWorkers(
                new WorkerConfig(Duration.ofSeconds(3), Duration.ofSeconds(60), never, never));
    try (TestEngine engine = TestEngine.start(database.config(), "idle", config)) {
      List<Poll> waiting = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        waiting.add(
            engine
                .engine()
                .tasks()
                .poll(
                    new PollRequest(
                        engine.queue(),
                        engine.register(),
                        List.of(new PollRequest.Wanted(TestEngine.TYPE, "", 0)),
                        10,
                        60_000)));
      }
      StatementMetrics meter = engine.engine().metrics().statements();

      // The first queries open their sessions, which is not an idle cost.
      long sent = sentWhileWatched(meter);
      for (int more = 0; more < 2 && sent >= WATCHED.toSeconds(); more++) {
        sent = sentWhileWatched(meter);
      }

      assertThat(sent).as("%s", meter.statementsBySession()).isLessThan(WATCHED.toSeconds());
      assertThat(waiting).noneMatch(poll -> poll.tasks().isDone());
    }
  }

  private static long sentWhileWatched(StatementMetrics meter) {
    long before = meter.statements();
    Awaitility.await().pollDelay(WATCHED).until(() -> true);
    return meter.statements() - before;
  }
}
