package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowFailedEvent;
import dev.kagzi.sdk.WorkflowType;
import org.junit.jupiter.api.Test;

/** How commands show the runs that handle failures. */
@SuppressWarnings("try") // the workers work while they are open
class FailureHandlerCommandTest extends ServedCommandTest {
  private static final WorkflowType<WorkflowFailedEvent, String> NOBODY_HANDLES =
      WorkflowType.of("nobody-handles", WorkflowFailedEvent.class, String.class);

  @Test
  void both_handlers_of_a_failed_run_are_shown_with_their_status() {
    try (Worker worker =
        kagzi
            .worker()
            .workflow(
                PAY,
                (ctx, name) -> {
                  throw new NonRetryableException("declined");
                })
            .onAnyFailure((ctx, event) -> "paged")
            .start()) {
      RunHandle<String> run = kagzi.workflow(PAY).onFailure(NOBODY_HANDLES).start("Ada");
      assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);

      assertThat(workflow("get", run.runId(), "-o", "json")).isZero();
      String own = json().at("/handlers/0/runId").asString();
      String ofAll = json().at("/handlers/1/runId").asString();
      assertThat(json().at("/handlers/0/workflowType").asString()).isEqualTo("nobody-handles");
      assertThat(workflow("result", ofAll)).isZero();

      assertThat(workflow("get", run.runId())).isZero();
      assertThat(out.toString().lines())
          .anyMatch(line -> line.matches("handler run +" + own + " \\(PENDING\\)"))
          .anyMatch(line -> line.matches("handled by +" + ofAll + ", of all failures"));
    }
  }

  @Test
  void a_namespace_shows_its_failure_handler_until_it_is_cleared() throws Exception {
    assertThat(kagzi("namespace", "create", "handled")).isZero();
    assertThat(out.toString().lines()).anyMatch(line -> line.matches("failure handler +none"));
    try (var client = Kagzi.builder().address(address()).namespace("handled").connect();
        Worker worker = client.worker("alerts").onAnyFailure((ctx, event) -> "paged").start()) {
      assertThat(worker.awaitRegistered(SOON)).isTrue();
      assertThat(kagzi("namespace", "get", "handled")).isZero();
      assertThat(out.toString().lines())
          .anyMatch(line -> line.matches("failure handler +registered on queue alerts"));
      assertThat(kagzi.namespaces().get("handled").failureHandlerQueue()).contains("alerts");
    }

    assertThat(kagzi("namespace", "update", "handled", "--clear-failure-handler")).isZero();

    assertThat(out.toString().lines()).anyMatch(line -> line.matches("failure handler +none"));
    assertThat(kagzi.namespaces().get("handled").failureHandlerQueue()).isEmpty();
  }
}
