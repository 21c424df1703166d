package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

/** What a client and a worker do with a run whose start is over the limit of new traces. */
class TracesPerSecondTest extends FakeServerTest {
  private final List<String> spans = new CopyOnWriteArrayList<>();
  private final OpenTelemetrySdk telemetry = telemetry(Sampler.parentBased(Sampler.alwaysOn()));

  private OpenTelemetrySdk telemetry(Sampler sampler) {
    SpanProcessor ended =
        new SpanProcessor() {
          @Override
          public void onStart(Context parent, ReadWriteSpan span) {}

          @Override
          public boolean isStartRequired() {
            return false;
          }

          @Override
          public void onEnd(ReadableSpan span) {
            spans.add(span.getName());
          }

          @Override
          public boolean isEndRequired() {
            return true;
          }
        };
    return OpenTelemetrySdk.builder()
        .setTracerProvider(
            SdkTracerProvider.builder().setSampler(sampler).addSpanProcessor(ended).build())
        .build();
  }

  @AfterEach
  void endTelemetry() {
    telemetry.close();
  }

  private void connect(OpenTelemetrySdk openTelemetry, int tracesPerSecondMax) {
    kagzi.close();
    kagzi =
        Kagzi.builder()
            .address(server.address())
            .openTelemetry(openTelemetry)
            .tracesPerSecondMax(tracesPerSecondMax)
            .connect();
  }

  private String traceparent() {
    return server.workflows.starts.getFirst().getStarts(0).getHeadersOrThrow("traceparent");
  }

  /** Returns the sampled flag and the trace id of the log in two steps, in two executions. */
  private static String code(WorkflowContext ctx, String name) {
    String first = ctx.step("first", String.class, TracesPerSecondTest::trace);
    ctx.sleep("nap", Duration.ofMillis(1_200));
    return first + ", " + ctx.step("second", String.class, TracesPerSecondTest::trace);
  }

  private static String trace() {
    return Span.current().getSpanContext().isSampled() + " " + MDC.get("trace_id");
  }

  @Test
  void an_untraced_run_has_no_span_in_any_execution_but_a_trace_id_in_the_log() {
    connect(telemetry, 0);
    worker(TracesPerSecondTest::code).start();

    RunHandle<String> run = start();

    String result = run.result(SOON);
    assertThat(traceparent()).matches("00-[0-9a-f]{32}-[0-9a-f]{16}-00");
    String traceId = traceparent().substring(3, 35);
    assertThat(result).isEqualTo("false " + traceId + ", false " + traceId);
    assertThat(epoch(run)).isEqualTo(2);
    // Execution spans end after the result has arrived, so the worker must have ended them all.
    kagzi.close();
    assertThat(spans).isEmpty();
  }

  @Test
  void a_step_s_code_that_starts_a_run_adds_it_to_the_untraced_trace() {
    connect(telemetry, 0);
    worker(
            (ctx, name) ->
                ctx.step(
                    "outer",
                    String.class,
                    () -> name.equals("Ada") ? kagzi.workflow(GREET).start("Bob").runId() : ""))
        .start();

    start().result(SOON);

    String inner = server.workflows.starts.get(1).getStarts(0).getHeadersOrThrow("traceparent");
    assertThat(inner).startsWith(traceparent().substring(0, 35)).endsWith("0");
    kagzi.close();
    assertThat(spans).isEmpty();
  }

  @Test
  void a_run_that_is_started_below_a_span_of_the_application_is_traced() {
    connect(telemetry, 0);
    worker((ctx, name) -> ctx.step("only", String.class, TracesPerSecondTest::trace)).start();
    Span caller = telemetry.getTracer("test").spanBuilder("caller").startSpan();
    Scope scope = caller.makeCurrent();
    try {
      assertThat(start().result(SOON)).isEqualTo("true " + caller.getSpanContext().getTraceId());
    } finally {
      scope.close();
      caller.end();
    }

    await()
        .atMost(SOON)
        .untilAsserted(
            () ->
                assertThat(spans)
                    .containsExactlyInAnyOrder(
                        "caller",
                        "kagzi.start greet",
                        "kagzi.claim greet",
                        "kagzi.step only",
                        "kagzi.run greet"));
  }

  @Test
  void a_worker_whose_sampler_samples_all_has_no_spans_of_an_untraced_run() {
    try (OpenTelemetrySdk samplesAll = telemetry(Sampler.alwaysOn())) {
      connect(samplesAll, 0);
      worker((ctx, name) -> ctx.step("only", String.class, TracesPerSecondTest::trace)).start();

      String result = start().result(SOON);

      assertThat(result).isEqualTo("false " + traceparent().substring(3, 35));
      kagzi.close();
      assertThat(spans).isEmpty();
    }
  }

  @Test
  void by_default_a_client_begins_a_hundred_traces_per_second() {
    kagzi.close();
    kagzi = Kagzi.builder().address(server.address()).openTelemetry(telemetry).connect();
    long beganNanos = System.nanoTime();

    kagzi.workflow(GREET).startAll(Collections.nCopies(300, "Ada"));

    double seconds = (System.nanoTime() - beganNanos) / 1e9;
    long traced =
        server.workflows.starts.stream()
            .flatMap(call -> call.getStartsList().stream())
            .filter(start -> !start.getHeadersOrThrow("traceparent").endsWith("-00"))
            .count();
    assertThat(traced).isBetween(100L, 101 + (long) (100 * seconds));
  }

  @Test
  void a_negative_limit_is_refused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Kagzi.builder().tracesPerSecondMax(-1))
        .withMessage("tracesPerSecondMax: -1 (expected: >= 0)");
  }
}
