package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Which starts are sent again, and which are not. */
class StartAgainTest extends FakeServerTest {
  private static final ErrorDetail COULD_NOT_WRITE = refusal(ErrorCode.ERROR_CODE_UNAVAILABLE);

  private static final WorkflowType<String, String> OTHER =
      WorkflowType.of("other", String.class, String.class);

  @Test
  void a_start_that_could_not_be_written_is_sent_again_with_its_run_id_until_it_is_answered()
      throws Exception {
    server.workflows.refuse(GREET.name(), COULD_NOT_WRITE);
    CompletableFuture<RunHandle<String>> run = kagzi.workflow(GREET).startAsync("Ada");
    await().until(() -> server.workflows.starts.size() >= 3);
    assertThat(run).isNotDone();

    server.workflows.accept(GREET.name());

    String runId = run.get(10, TimeUnit.SECONDS).runId();
    assertThat(sentRunIds()).containsOnly(runId);
    assertThat(server.state.all()).hasSize(1);
  }

  @Test
  void only_unwritten_starts_are_sent_again_and_other_starts_of_the_call_are_answered()
      throws Exception {
    server.workflows.refuse(OTHER.name(), COULD_NOT_WRITE);
    CountDownLatch gate = server.hold("StartWorkflows");
    // Two calls are in flight; later starts share the next one.
    kagzi.workflow(GREET).startAsync("first");
    kagzi.workflow(GREET).startAsync("second");
    await().until(() -> server.workflows.starts.size() == 2);
    CompletableFuture<RunHandle<String>> neighbour = kagzi.workflow(GREET).startAsync("third");
    CompletableFuture<RunHandle<String>> refused = kagzi.workflow(OTHER).startAsync("fourth");

    gate.countDown();

    String neighbourId = neighbour.get(10, TimeUnit.SECONDS).runId();
    await().until(() -> server.workflows.starts.size() >= 5);
    assertThat(refused).isNotDone();
    server.workflows.accept(OTHER.name());
    refused.get(10, TimeUnit.SECONDS);
    assertThat(server.workflows.starts.get(2).getStartsCount()).isEqualTo(2);
    assertThat(sentRunIds()).containsOnlyOnce(neighbourId);
  }

  @Test
  void a_start_whose_answer_was_lost_is_sent_again_with_its_run_id_and_makes_one_run()
      throws Exception {
    server.workflows.loseStartAnswers(true);
    CompletableFuture<RunHandle<String>> run = kagzi.workflow(GREET).startAsync("Ada");
    await().until(() -> server.workflows.starts.size() >= 3);
    assertThat(run).isNotDone();

    server.workflows.loseStartAnswers(false);

    String runId = run.get(10, TimeUnit.SECONDS).runId();
    assertThat(sentRunIds()).containsOnly(runId);
    assertThat(server.state.all()).hasSize(1);
  }

  @Test
  void a_start_that_can_never_be_written_gives_up_after_the_call_timeout_and_not_before() {
    server.workflows.refuse(GREET.name(), COULD_NOT_WRITE);

    try (Kagzi hasty = connect(Duration.ofMillis(300))) {
      long begun = System.nanoTime();
      CompletableFuture<RunHandle<String>> run = hasty.workflow(GREET).startAsync("Ada");

      assertThatThrownBy(() -> run.get(10, TimeUnit.SECONDS))
          .hasCauseInstanceOf(ServerUnavailableException.class);
      assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(300_000_000L);
    }
  }

  @Test
  void the_backoff_grows_while_the_server_can_write_nothing() {
    server.workflows.refuse(GREET.name(), COULD_NOT_WRITE);

    try (Kagzi hasty = connect(Duration.ofSeconds(1))) {
      CompletableFuture<RunHandle<String>> run = hasty.workflow(GREET).startAsync("Ada");

      assertThatThrownBy(() -> run.get(10, TimeUnit.SECONDS))
          .hasCauseInstanceOf(ServerUnavailableException.class);
    }
    // Plus the start of another type. With a constant pause of 50 ms there would be about twenty.
    assertThat(server.workflows.starts).hasSizeLessThan(11);
  }

  @Test
  void an_invalid_start_is_not_sent_again() {
    server.workflows.refuse(GREET.name(), refusal(ErrorCode.ERROR_CODE_INVALID_ARGUMENT));
    CompletableFuture<RunHandle<String>> run = kagzi.workflow(GREET).startAsync("Ada");

    assertThatThrownBy(() -> run.get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(RequestRefusedException.class);

    assertThat(server.workflows.starts).hasSize(1);
  }

  @Test
  void a_start_with_a_non_retryable_refusal_is_not_sent_again() {
    server.workflows.refuse(
        GREET.name(), COULD_NOT_WRITE.toBuilder().setNonRetryable(true).build());
    CompletableFuture<RunHandle<String>> run = kagzi.workflow(GREET).startAsync("Ada");

    assertThatThrownBy(() -> run.get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(RequestRefusedException.class);

    assertThat(server.workflows.starts).hasSize(1);
  }

  @Test
  void a_call_that_is_refused_as_invalid_is_not_sent_again() {
    server.fail("StartWorkflows", Status.INVALID_ARGUMENT);
    CompletableFuture<RunHandle<String>> run = kagzi.workflow(GREET).startAsync("Ada");

    assertThatThrownBy(() -> run.get(10, TimeUnit.SECONDS))
        .hasCauseInstanceOf(RequestRefusedException.class);

    assertThat(server.calls("StartWorkflows")).isEqualTo(1);
  }

  @Test
  void a_start_without_an_answer_is_not_reported_as_refused_because_another_call_was() {
    try (Kagzi hasty = connect(Duration.ofSeconds(1))) {
      int before = server.workflows.starts.size();
      server.hold("StartWorkflows");
      CompletableFuture<RunHandle<String>> unanswered = hasty.workflow(GREET).startAsync("Ada");
      await().until(() -> server.workflows.starts.size() == before + 1);
      server.fail("StartWorkflows", Status.INVALID_ARGUMENT);
      CompletableFuture<RunHandle<String>> refused = hasty.workflow(GREET).startAsync("Bob");

      assertThatThrownBy(() -> refused.get(10, TimeUnit.SECONDS))
          .hasCauseInstanceOf(RequestRefusedException.class);
      assertThatThrownBy(() -> unanswered.get(10, TimeUnit.SECONDS))
          .hasCauseInstanceOf(ServerUnavailableException.class);
    }
  }

  private static ErrorDetail refusal(ErrorCode code) {
    return ErrorDetail.newBuilder().setCode(code).setMessage("refused by the test").build();
  }

  /** A connected client, so that connecting takes no time of its starts. */
  private Kagzi connect(Duration callTimeout) {
    Kagzi connected = Kagzi.builder().address(server.address()).callTimeout(callTimeout).connect();
    await()
        .atMost(SOON)
        .ignoreException(ServerUnavailableException.class)
        .untilAsserted(() -> connected.workflow(OTHER).start("first"));
    return connected;
  }

  private List<String> sentRunIds() {
    return server.workflows.starts.stream()
        .flatMap(call -> call.getStartsList().stream())
        .map(StartWorkflowRequest::getRunId)
        .toList();
  }
}
