package dev.kagzi.engine.transition;

import static dev.kagzi.engine.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.Stored;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.Received;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.RecordedStep.Result;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.WorkerId;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An engine and one worker for each test, on a queue of its own. */
abstract class EngineFixture {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  final Stored stored = new Stored(database);
  TestEngine engine;
  WorkerId worker;

  EngineConfig config() {
    return EngineConfig.defaults();
  }

  @BeforeEach
  void open(TestInfo test) {
    engine =
        TestEngine.start(database.config(), test.getTestMethod().orElseThrow().getName(), config());
    worker = engine.register();
  }

  @AfterEach
  void close() {
    engine.close();
  }

  /** Returns the result of the receive that this report has ended. */
  static Result result(ReportResult received) {
    assertThat(received).isInstanceOf(Received.class);
    return ((Received) received).step().result();
  }

  /** Returns the result that the history of the task has of the step. */
  static Result result(Task task, String step) {
    return task.steps().stream()
        .filter(recorded -> recorded.stepKey().equals(step))
        .map(RecordedStep::result)
        .findFirst()
        .orElseThrow();
  }

  static void assertRefused(CompletableFuture<?> answer, Refusal.Code code, String text) {
    assertThatThrownBy(() -> await(answer))
        .isInstanceOfSatisfying(
            Refusal.class, refusal -> assertThat(refusal.code()).isEqualTo(code))
        .hasMessageContaining(text);
  }
}
