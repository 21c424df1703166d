package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** An endless loop reaches the step limit of a run. */
class StepLimitTest {
  private static final int MAX = 20;

  @Test
  void a_run_with_too_many_steps_fails_with_a_clear_message() {
    WorkflowType<String, String> type = WorkflowType.of("loop", String.class, String.class);
    try (RealServer server = new RealServer(EngineConfig.defaults().withLimits(limits()));
        Kagzi kagzi = Kagzi.connect(server.address())) {
      kagzi
          .worker()
          .workflow(
              type,
              (ctx, name) -> {
                while (true) {
                  ctx.step("again", () -> {});
                }
              })
          .start();

      RunHandle<String> run = kagzi.workflow(type).start("for ever");

      assertThatThrownBy(() -> run.result(Duration.ofSeconds(30)))
          .isInstanceOf(RunFailedException.class)
          .hasMessageContaining("(expected: at most " + MAX + " in one run)");
      assertThat(server.steps(run.runId())).hasSize(MAX);
    }
  }

  private static Limits limits() {
    Limits d = Limits.DEFAULT;
    return new Limits(
        d.payloadBytesWarn(),
        d.payloadBytesMax(),
        d.nameLengthMax(),
        d.externalIdLengthMax(),
        d.stepKeyLengthMax(),
        MAX,
        d.signalsPerRunMax(),
        d.signalBytesPerRunMax(),
        d.labelsMax(),
        d.labelLengthMax(),
        d.textLengthMax());
  }
}
