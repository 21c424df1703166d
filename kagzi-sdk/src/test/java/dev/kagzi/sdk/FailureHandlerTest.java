package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.StartWorkflowRequest;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FailureHandlerTest extends FakeServerTest {
  private static final WorkflowType<WorkflowFailedEvent, String> HANDLE =
      WorkflowType.of("handle", WorkflowFailedEvent.class, String.class);

  // As the server writes it, with fields that this SDK does not know.
  private static final String EVENT =
      """
      {"failed_run_id": "run-1", "namespace_id": "shop", "workflow_type": "pay",
       "task_queue": "payments", "error": "card declined", "original_input": "YWRB",
       "attempts": 2, "started_at": "2026-01-02T03:04:05.678901Z",
       "failed_at": "2026-01-02T03:05:00Z", "status": "TIMED_OUT",
       "error_detail": {"code": "TIMEOUT", "message": "card declined", "non_retryable": true,
         "metadata": {"type": "shop.Declined", "kind": "VALIDATION", "step": "charge"}},
       "original_input_metadata": {"codec": "backwards"}, "external_id": "order-42",
       "later": {"than": ["this", "sdk"]}}
      """;

  /** Encodes strings reversed, and nothing else. */
  private static final class Backwards implements PayloadCodec {
    @Override
    public Encoded encode(@Nullable Object value, Type type) {
      return new Encoded(reverse((String) value), Map.of("codec", "backwards"));
    }

    @Override
    public @Nullable Object decode(Encoded payload, Type type) {
      assertThat(type).isEqualTo(String.class);
      assertThat(payload.metadata()).containsEntry("codec", "backwards");
      return new String(
          reverse(new String(payload.data(), StandardCharsets.UTF_8)), StandardCharsets.UTF_8);
    }

    private static byte[] reverse(@Nullable String text) {
      return new StringBuilder(String.valueOf(text))
          .reverse()
          .toString()
          .getBytes(StandardCharsets.UTF_8);
    }
  }

  private final PayloadCodec codec = new FailedEventCodec(new Backwards());

  @Test
  void an_event_is_read_from_the_servers_json_with_any_codec() {
    WorkflowFailedEvent event = decode(EVENT);

    assertThat(event.failedRunId()).isEqualTo("run-1");
    assertThat(event.workflowId()).contains("order-42");
    assertThat(event.namespace()).isEqualTo("shop");
    assertThat(event.workflowType()).isEqualTo("pay");
    assertThat(event.queue()).isEqualTo("payments");
    assertThat(event.error()).isEqualTo("card declined");
    assertThat(event.attempts()).isEqualTo(2);
    assertThat(event.startedAt()).contains(Instant.parse("2026-01-02T03:04:05.678901Z"));
    assertThat(event.failedAt()).isEqualTo(Instant.parse("2026-01-02T03:05:00Z"));
    assertThat(event.status()).isEqualTo(RunStatus.TIMED_OUT);
    assertThat(event.failure().type()).isEqualTo("shop.Declined");
    assertThat(event.failure().nonRetryable()).isTrue();
    assertThat(event.failure().kind()).isEqualTo(ErrorKind.VALIDATION);
    assertThat(event.failure().step()).contains("charge");
  }

  @Test
  void the_failed_runs_input_is_read_by_the_applications_codec() {
    assertThat(decode(EVENT).input(String.class)).isEqualTo("Ada");
    assertThat(decode(EVENT).input(new TypeRef<String>() {})).isEqualTo("Ada");
  }

  @Test
  void an_event_that_was_written_here_is_read_the_same() {
    WorkflowFailedEvent event = decode(EVENT);

    Encoded encoded = codec.encode(event, WorkflowFailedEvent.class);

    WorkflowFailedEvent again = decode(new String(encoded.data(), StandardCharsets.UTF_8));
    assertThat(again).usingRecursiveComparison().isEqualTo(event);
  }

  @Test
  void optional_fields_may_be_missing_and_a_missing_required_field_is_named() {
    WorkflowFailedEvent least =
        decode(
            """
            {"failed_run_id": "r", "failed_at": "2026-01-02T03:05:00Z", "status": "FAILED"}
            """);

    assertThat(least.workflowId()).isEmpty();
    assertThat(least.startedAt()).isEmpty();
    assertThat(least.originalInput()).isEmpty();
    assertThatThrownBy(() -> least.input(String.class))
        .isInstanceOf(PayloadException.class)
        .hasMessageContaining("run r");
    assertThatThrownBy(() -> decode("{}"))
        .isInstanceOf(PayloadException.class)
        .hasMessageContaining("failed_run_id");
    assertThatThrownBy(() -> decode("null")).isInstanceOf(PayloadException.class);
    assertThatThrownBy(() -> decode("[")).isInstanceOf(PayloadException.class);
  }

  @Test
  void an_event_made_by_hand_reads_its_input_as_json() {
    WorkflowFailedEvent event =
        new WorkflowFailedEvent(
            "run-1",
            Optional.empty(),
            "default",
            "pay",
            "payments",
            "boom",
            Optional.of(new Encoded("[1]".getBytes(StandardCharsets.UTF_8), Map.of())),
            1,
            Optional.empty(),
            Instant.EPOCH,
            RunStatus.FAILED,
            new Failure("", "boom", false, Map.of()));

    assertThat(event.input(new TypeRef<List<Integer>>() {})).containsExactly(1);
  }

  @Test
  void a_handler_is_a_workflow_whose_input_is_the_event() {
    try (Kagzi backwards =
        Kagzi.builder().address(server.address()).codec(new Backwards()).connect()) {
      backwards
          .worker()
          .workflow(
              HANDLE,
              (ctx, event) ->
                  ctx.step(
                      "alert",
                      String.class,
                      () -> event.input(String.class) + ": " + event.error()))
          .start();

      assertThat(backwards.workflow(HANDLE).start(decode(EVENT)).result(SOON))
          .isEqualTo("Ada: card declined");
    }
  }

  @Test
  void the_handler_of_all_failures_is_served_on_every_queue_of_its_worker() {
    kagzi
        .worker()
        .workflow(GREET.queue("a"), (ctx, name) -> name)
        .workflow(HANDLE.queue("b"), (ctx, event) -> "handled")
        .onAnyFailure((ctx, event) -> "noted")
        .start();
    kagzi.worker("c").onAnyFailure((ctx, event) -> "noted").start();

    await().until(() -> server.workers.registrations.size() == 3);
    assertThat(server.workers.registrations)
        .extracting(request -> request.getTaskQueue())
        .containsExactlyInAnyOrder("a", "b", "c");
    assertThat(server.workers.registrations)
        .allSatisfy(
            request -> {
              assertThat(request.getWorkflowTypesList()).contains("__kagzi_failure_handler");
              assertThat(request.getServedList().getLast().getVersion()).isEmpty();
            });
  }

  @Test
  void there_is_one_handler_of_all_failures() {
    assertThatThrownBy(
            () ->
                kagzi
                    .worker()
                    .onAnyFailure((ctx, event) -> "one")
                    .onAnyFailure((ctx, event) -> "two"))
        .hasMessageContaining("registered once");
  }

  @Test
  void a_start_names_its_handler_and_where_it_runs() {
    kagzi.workflow(GREET).onFailure(HANDLE).start("a");
    kagzi.workflow(GREET).onFailure(HANDLE.queue("alerts")).start("b");
    kagzi.workflow(GREET).onFailure(HANDLE, "default").start("c");

    assertThat(server.state.all().stream().map(run -> run.start))
        .extracting(StartWorkflowRequest::getOnFailureWorkflow)
        .containsOnly("handle");
    assertThat(server.state.all().stream().map(run -> run.start))
        .extracting(StartWorkflowRequest::getOnFailureTaskQueue)
        .containsExactly("", "alerts", "default");
    assertThatThrownBy(() -> kagzi.workflow(GREET).onFailure(HANDLE.version("2")))
        .hasMessageContaining("without a version");
  }

  @Test
  void a_start_carries_its_timeouts() {
    Instant deadline = Instant.parse("2030-01-02T03:04:05Z");

    kagzi
        .workflow(GREET)
        .executionTimeout(Duration.ofDays(2))
        .deadline(deadline)
        .stepTimeout(Duration.ofSeconds(30))
        .heartbeatTimeout(Duration.ofSeconds(20))
        .retries(4)
        .start("Ada");

    StartWorkflowRequest request = server.state.all().getFirst().start;
    assertThat(request.getExecutionTimeoutMs()).isEqualTo(48L * 3_600_000);
    assertThat(request.getDeadline().getSeconds()).isEqualTo(deadline.getEpochSecond());
    assertThat(request.getStepTimeoutMs()).isEqualTo(30_000);
    assertThat(request.getHeartbeatTimeoutMs()).isEqualTo(20_000);
    assertThat(request.getRetryPolicy().getMaximumAttempts()).isEqualTo(4);
  }

  private WorkflowFailedEvent decode(String json) {
    Object event =
        codec.decode(
            new Encoded(json.getBytes(StandardCharsets.UTF_8), Map.of()),
            WorkflowFailedEvent.class);
    return (WorkflowFailedEvent) java.util.Objects.requireNonNull(event);
  }
}
