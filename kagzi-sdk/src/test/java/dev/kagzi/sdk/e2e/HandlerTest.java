package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Encoded;
import dev.kagzi.sdk.ErrorKind;
import dev.kagzi.sdk.JacksonCodec;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.PayloadCodec;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkerBuilder;
import dev.kagzi.sdk.WorkflowFailedEvent;
import dev.kagzi.sdk.WorkflowType;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HandlerTest extends RealServerTest {
  private final BlockingQueue<WorkflowFailedEvent> handled = new LinkedBlockingQueue<>();
  private final BlockingQueue<WorkflowFailedEvent> noted = new LinkedBlockingQueue<>();

  private WorkflowType<WorkflowFailedEvent, String> handler() {
    return WorkflowType.of("handle", WorkflowFailedEvent.class, String.class).queue(queue);
  }

  private WorkerBuilder failing(Kagzi client) {
    return client
        .worker()
        .workflow(
            type,
            (ctx, name) -> {
              ctx.step(
                  "charge",
                  () -> {
                    throw new NonRetryableException("declined for " + name);
                  });
              return name;
            })
        .workflow(
            handler(),
            (ctx, event) -> {
              ctx.step("note", () -> handled.add(event));
              return "handled";
            });
  }

  @Test
  void a_failed_run_starts_its_handler_with_the_complete_event() throws Exception {
    failing(kagzi).start();

    RunHandle<String> run = kagzi.workflow(type).id(queue).onFailure(handler()).start("Ada");

    assertThatThrownBy(() -> run.result(SOON)).isInstanceOf(RunFailedException.class);
    WorkflowFailedEvent event = take(handled);
    assertThat(event.failedRunId()).isEqualTo(run.runId());
    assertThat(event.workflowId()).contains(queue);
    assertThat(event.namespace()).isEqualTo("default");
    assertThat(event.workflowType()).isEqualTo("greet");
    assertThat(event.queue()).isEqualTo(queue);
    assertThat(event.error()).isEqualTo("declined for Ada");
    assertThat(event.attempts()).isEqualTo(1);
    assertThat(event.startedAt()).isPresent();
    assertThat(event.failedAt()).isAfterOrEqualTo(event.startedAt().orElseThrow());
    assertThat(event.status()).isEqualTo(RunStatus.FAILED);
    assertThat(event.failure().step()).contains("charge");
    assertThat(event.input(String.class)).isEqualTo("Ada");
  }

  @Test
  void a_run_that_timed_out_starts_its_handler_too() throws Exception {
    failing(kagzi).start();

    RunHandle<String> run =
        kagzi
            .workflow(WorkflowType.of("nobody-serves", String.class, String.class).queue(queue))
            .executionTimeout(Duration.ofSeconds(1))
            .onFailure(handler())
            .start("Ada");

    WorkflowFailedEvent event = take(handled);
    assertThat(event.failedRunId()).isEqualTo(run.runId());
    assertThat(event.status()).isEqualTo(RunStatus.TIMED_OUT);
    assertThat(event.startedAt()).isEmpty();
    assertThat(event.failure().kind()).isEqualTo(ErrorKind.TIMEOUT);
  }

  @Test
  void the_event_is_read_with_any_codec_of_the_application() throws Exception {
    try (Kagzi secret =
        Kagzi.builder().address(server.address()).codec(new Scrambled()).connect()) {
      failing(secret).start();

      secret.workflow(type).onFailure(handler()).start("Ada");

      assertThat(take(handled).input(String.class)).isEqualTo("Ada");
    }
  }

  /** A codec whose output is not readable as JSON. */
  private static final class Scrambled implements PayloadCodec {
    private final PayloadCodec json = new JacksonCodec();

    @Override
    public Encoded encode(@Nullable Object value, Type type) {
      return new Encoded(scramble(json.encode(value, type).data()), Map.of("codec", "scrambled"));
    }

    @Override
    public @Nullable Object decode(Encoded payload, Type type) {
      return json.decode(new Encoded(scramble(payload.data()), Map.of()), type);
    }

    private static byte[] scramble(byte[] data) {
      byte[] scrambled = data.clone();
      for (int i = 0; i < data.length; i++) {
        scrambled[i] ^= 0x55;
      }
      return scrambled;
    }
  }

  @Test
  void the_handler_of_all_failures_and_the_runs_own_both_run() throws Exception {
    try (Kagzi shop = Kagzi.builder().address(server.address()).namespace("shop").connect()) {
      failing(shop)
          .onAnyFailure(
              (ctx, event) -> {
                ctx.step("note", () -> noted.add(event));
                return "noted";
              })
          .start()
          .awaitRegistered(SOON);

      RunHandle<String> run = shop.workflow(type).onFailure(handler()).start("Ada");

      assertThat(take(handled).failedRunId()).isEqualTo(run.runId());
      assertThat(take(noted).failedRunId()).isEqualTo(run.runId());
      assertThat(noted).isEmpty();
    }
  }

  @Test
  void a_handler_that_fails_starts_no_other() throws Exception {
    try (Kagzi loop = Kagzi.builder().address(server.address()).namespace("loop").connect()) {
      failing(loop)
          .onAnyFailure(
              (ctx, event) -> {
                noted.add(event);
                throw new NonRetryableException("the handler is broken too");
              })
          .start()
          .awaitRegistered(SOON);

      loop.workflow(type).start("Ada");
      take(noted);
      await()
          .atMost(SOON)
          .until(
              () ->
                  loop.list().type(WorkerBuilder.ANY_FAILURE_TYPE).page().runs().stream()
                      .allMatch(run -> run.status() == RunStatus.FAILED));

      assertThat(loop.list().type(WorkerBuilder.ANY_FAILURE_TYPE).page().runs()).hasSize(1);
    }
  }

  @Test
  void cancelled_and_terminated_runs_start_no_handler() throws Exception {
    WorkflowType<String, String> waiting =
        WorkflowType.of("waiting", String.class, String.class).queue(queue);
    RunHandle<String> cancelled = kagzi.workflow(waiting).onFailure(handler()).start("a");
    RunHandle<String> terminated = kagzi.workflow(waiting).onFailure(handler()).start("b");

    cancelled.cancel();
    terminated.terminate("enough");

    assertThat(kagzi.list().queue(queue).type("handle").page().runs()).isEmpty();
  }

  private static WorkflowFailedEvent take(BlockingQueue<WorkflowFailedEvent> events)
      throws InterruptedException {
    WorkflowFailedEvent event = events.poll(30, TimeUnit.SECONDS);
    assertThat(event).isNotNull();
    return event;
  }
}
