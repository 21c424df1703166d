package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Worker;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

@SuppressWarnings("try") // the workers work while they are open
class WorkflowRepairTest extends ServedCommandTest {
  private final AtomicBoolean repaired = new AtomicBoolean();

  private Worker worker() {
    return kagzi
        .worker()
        .workflow(
            PAY,
            (ctx, name) ->
                ctx.step(
                    "charge",
                    String.class,
                    () -> {
                      if (!repaired.get()) {
                        throw new NonRetryableException("broken");
                      }
                      return "charged";
                    }))
        .start();
  }

  @Test
  void a_terminated_run_has_failed_for_the_reason_given() {
    RunHandle<String> run = kagzi.workflow(NOBODY_SERVES).start("Ada");

    assertThat(workflow("terminate", run.runId(), "--reason", "wrong customer")).isZero();
    assertThat(out.toString()).isEqualToIgnoringNewLines("run " + run.runId() + " terminated");

    assertThat(run.status()).isEqualTo(RunStatus.FAILED);
    assertThat(workflow("get", run.runId())).isZero();
    assertThat(out.toString().lines())
        .anyMatch(line -> line.matches("error +terminated: wrong customer"));
    assertThat(workflow("terminate", run.runId())).isEqualTo(1);
    assertThat(err.toString()).contains("had already ended as FAILED");
  }

  @Test
  void a_failed_run_is_resumed() {
    try (Worker worker = worker()) {
      RunHandle<String> run = failed();
      repaired.set(true);

      assertThat(workflow("resume", run.runId())).isZero();

      assertThat(out.toString()).isEqualToIgnoringNewLines("run " + run.runId() + " resumed");
      assertThat(run.result(SOON)).isEqualTo("charged");
      assertThat(workflow("resume", run.runId())).isEqualTo(1);
      assertThat(err.toString()).contains("not resumed: it is COMPLETED");
    }
  }

  @Test
  void a_terminated_run_is_resumed_by_force_only() {
    RunHandle<String> run = kagzi.workflow(NOBODY_SERVES).start("Ada");
    run.terminate("wrong customer");

    assertThat(workflow("resume", run.runId())).isEqualTo(1);
    assertThat(err.toString()).contains("it was terminated").contains("force");
    assertThat(workflow("resume", run.runId(), "--force")).isZero();

    assertThat(run.status()).isEqualTo(RunStatus.PENDING);
  }

  @Test
  void a_failed_run_is_retried_as_a_new_one() {
    try (Worker worker = worker()) {
      RunHandle<String> run = failed();
      repaired.set(true);

      assertThat(workflow("retry", run.runId())).isZero();

      String said = out.toString().strip();
      assertThat(said).startsWith("run " + run.runId() + " retried as run ");
      String again = said.substring(said.lastIndexOf(' ') + 1);
      assertThat(kagzi.run(again, PAY).result(SOON)).isEqualTo("charged");
    }
  }

  @Test
  void an_active_run_is_not_retried() {
    RunHandle<String> run = kagzi.workflow(NOBODY_SERVES).start("Ada");

    assertThat(workflow("retry", run.runId())).isEqualTo(1);
    assertThat(err.toString()).contains("not retried: run " + run.runId() + " is active");
  }

  private static RunHandle<String> failed() {
    RunHandle<String> run = kagzi.workflow(PAY).start("Ada");
    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);
    return run;
  }
}
