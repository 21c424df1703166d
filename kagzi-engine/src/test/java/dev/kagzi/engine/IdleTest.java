package dev.kagzi.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.db.StatementMeter;
import dev.kagzi.engine.task.DispatchConfig;
import dev.kagzi.engine.task.Poll;
import dev.kagzi.engine.worker.WorkerConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What an engine costs that has nothing to do. */
class IdleTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final Duration WATCHED = Duration.ofSeconds(5);

  @Test
  void an_idle_engine_sends_less_than_one_statement_a_second() {
    // The workers of this test do not beat: they must not be found dead meanwhile.
    Duration never = Duration.ofHours(1);
    // One who looks: a second would open its session sometime, which is not what idling costs.
    DispatchConfig usual = DispatchConfig.defaults();
    EngineConfig config =
        EngineConfig.defaults()
            .withDispatch(
                new DispatchConfig(
                    usual.pollMax(),
                    usual.firstLease(),
                    usual.fallbackLook(),
                    usual.linger(),
                    usual.answerBytesMax(),
                    1))
            .withWorkers(
                new WorkerConfig(Duration.ofSeconds(3), Duration.ofSeconds(60), never, never));
    try (TestEngine engine = TestEngine.start(database.config(), "idle", config)) {
      List<Poll> waiting = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        waiting.add(engine.poll(engine.register(), 10));
      }
      StatementMeter meter = engine.engine().meter().statements();
      Duration settle = Duration.ofSeconds(2);
      Awaitility.await().pollDelay(settle).until(() -> true);

      long before = meter.statements();
      Map<String, Long> bySessionBefore = meter.statementsBySession();
      Awaitility.await().pollDelay(WATCHED).until(() -> true);
      long sent = meter.statements() - before;

      assertThat(sent)
          .as("%s, then %s", bySessionBefore, meter.statementsBySession())
          .isLessThan(WATCHED.toSeconds());
      assertThat(waiting).noneMatch(poll -> poll.tasks().isDone());
    }
  }
}
