package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/** The spans of a client and a worker. */
class TracingTest extends FakeServerTest {
  private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("kagzi.run.outcome");
  private static final AttributeKey<Long> EPOCH = AttributeKey.longKey("kagzi.run.epoch");
  private static final AttributeKey<Long> ATTEMPT = AttributeKey.longKey("kagzi.step.attempt");

  private final List<SpanData> spans = new CopyOnWriteArrayList<>();
  private final OpenTelemetrySdk telemetry =
      OpenTelemetrySdk.builder()
          .setTracerProvider(
              SdkTracerProvider.builder()
                  .addSpanProcessor(SimpleSpanProcessor.create(new Exporter()))
                  .build())
          .build();

  private final class Exporter implements SpanExporter {
    @Override
    public CompletableResultCode export(Collection<SpanData> ended) {
      spans.addAll(ended);
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode flush() {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
      return CompletableResultCode.ofSuccess();
    }
  }

  @BeforeEach
  void trace() {
    kagzi.close();
    kagzi = connect(telemetry);
  }

  @AfterEach
  void endTrace() {
    telemetry.close();
  }

  private Kagzi connect(OpenTelemetry openTelemetry) {
    return Kagzi.builder().address(server.address()).openTelemetry(openTelemetry).connect();
  }

  private List<SpanData> spans(String name) {
    return spans.stream().filter(span -> span.getName().startsWith(name)).toList();
  }

  private SpanData span(String name) {
    await().atMost(SOON).until(() -> !spans(name).isEmpty());
    assertThat(spans(name)).as(name).hasSize(1);
    return spans(name).get(0);
  }

  private RunHandle<String> startWithin(Context context) {
    Scope scope = context.makeCurrent();
    try {
      return start();
    } finally {
      scope.close();
    }
  }

  @Test
  void a_client_without_open_telemetry_adds_no_headers_and_traces_nothing() {
    try (Kagzi untraced = Kagzi.connect(server.address())) {
      AtomicBoolean traced = new AtomicBoolean();
      untraced
          .worker()
          .workflow(
              GREET,
              (ctx, name) ->
                  ctx.step(
                      "s",
                      String.class,
                      () -> {
                        traced.set(Span.current().getSpanContext().isValid());
                        return "trace_id " + MDC.get("trace_id");
                      }))
          .start();

      RunHandle<String> run = untraced.workflow(GREET).start("Ada");

      assertThat(run.result(SOON)).isEqualTo("trace_id null");
      assertThat(traced).isFalse();
      assertThat(server.workflows.starts.get(0).getStarts(0).getHeadersMap()).isEmpty();
      assertThat(spans).isEmpty();
    }
  }

  @Test
  void start_claim_run_and_steps_are_in_the_trace_of_the_caller() {
    worker(
            (ctx, name) -> {
              ctx.step("first", () -> {});
              return ctx.step("second", String.class, () -> "done " + name);
            })
        .start();
    Span caller = telemetry.getTracer("test").spanBuilder("caller").startSpan();

    RunHandle<String> run = startWithin(Context.root().with(caller));

    assertThat(run.result(SOON)).isEqualTo("done Ada");
    SpanData execution = span("kagzi.run greet");
    SpanData start = span("kagzi.start greet");
    SpanData claim = span("kagzi.claim greet");
    assertThat(start.getParentSpanContext()).isEqualTo(caller.getSpanContext());
    assertThat(claim.getParentSpanId()).isEqualTo(start.getSpanId());
    assertThat(execution.getParentSpanId()).isEqualTo(claim.getSpanId());
    assertThat(execution.getAttributes().get(OUTCOME)).isEqualTo("completed");
    assertThat(execution.getAttributes().get(AttributeKey.stringKey("kagzi.run.id")))
        .isEqualTo(run.runId());
    assertThat(spans("kagzi.step"))
        .extracting(SpanData::getName)
        .containsExactly("kagzi.step first", "kagzi.step second");
    assertThat(spans("kagzi.step"))
        .extracting(SpanData::getParentSpanId)
        .containsOnly(claim.getSpanId());
    assertThat(spans).extracting(SpanData::getTraceId).containsOnly(start.getTraceId());
  }

  @Test
  void spans_of_a_step_s_code_and_runs_that_it_starts_are_below_the_step() {
    worker(
            (ctx, name) ->
                ctx.step(
                    "outer",
                    String.class,
                    () -> {
                      telemetry.getTracer("test").spanBuilder("own").startSpan().end();
                      return name.equals("Ada") ? kagzi.workflow(GREET).start("Bob").runId() : "";
                    }))
        .start();

    start().result(SOON);

    await().atMost(SOON).until(() -> spans("kagzi.run").size() == 2);
    List<String> steps = spans("kagzi.step outer").stream().map(SpanData::getSpanId).toList();
    assertThat(spans("own"))
        .extracting(SpanData::getParentSpanId)
        .containsExactlyInAnyOrderElementsOf(steps);
    assertThat(spans("kagzi.start").stream().map(SpanData::getParentSpanId).filter(steps::contains))
        .hasSize(1);
    assertThat(spans).extracting(SpanData::getTraceId).containsOnly(spans.get(0).getTraceId());
  }

  @Test
  void baggage_of_the_caller_reaches_the_code_of_the_run() {
    worker(
            (ctx, name) ->
                Baggage.current().getEntryValue("tenant")
                    + " "
                    + ctx.step("s", String.class, () -> Baggage.current().getEntryValue("tenant")))
        .start();

    RunHandle<String> run =
        startWithin(Context.root().with(Baggage.builder().put("tenant", "acme").build()));

    assertThat(run.result(SOON)).isEqualTo("acme acme");
  }

  @Test
  void what_an_interceptor_adds_to_the_context_is_current_in_steps() {
    worker(
            (ctx, name) ->
                ctx.step("s", String.class, () -> Baggage.current().getEntryValue("region") + "!"))
        .interceptor(
            new WorkerInterceptor() {
              @Override
              public @Nullable Object run(WorkflowContext ctx, Callable<@Nullable Object> next)
                  throws Exception {
                Scope scope = Baggage.builder().put("region", "eu").build().makeCurrent();
                try {
                  return next.call();
                } finally {
                  scope.close();
                }
              }
            })
        .start();

    assertThat(start().result(SOON)).isEqualTo("eu!");

    assertThat(span("kagzi.step").getParentSpanId()).isEqualTo(span("kagzi.claim").getSpanId());
  }

  @Test
  void log_lines_of_the_code_have_the_ids_of_their_spans() {
    ListAppender<ILoggingEvent> logged =
        new ListAppender<>() {
          @Override
          protected void append(ILoggingEvent event) {
            // Reads the MDC of the thread that logs.
            event.prepareForDeferredProcessing();
            super.append(event);
          }
        };
    Logger logger = (Logger) LoggerFactory.getLogger("kagzi.workflow.greet");
    logger.addAppender(logged);
    logged.start();
    try {
      worker(
              (ctx, name) -> {
                ctx.logger().info("before");
                ctx.step("s", () -> logger.info("in the step"));
                ctx.parallel("p", Branch.of("b", branch -> log(logger)), Branch.of("c", b -> ""));
                ctx.logger().info("after");
                return name;
              })
          .start();

      start().result(SOON);

      SpanData claim = span("kagzi.claim");
      SpanData step = span("kagzi.step");
      assertThat(logged.list)
          .extracting(
              line -> line.getFormattedMessage() + " " + line.getMDCPropertyMap().get("span_id"))
          .containsExactly(
              "before " + claim.getSpanId(),
              "in the step " + step.getSpanId(),
              "in the branch " + claim.getSpanId(),
              "after " + claim.getSpanId());
      assertThat(logged.list)
          .extracting(line -> line.getMDCPropertyMap().get("trace_id"))
          .containsOnly(claim.getTraceId());
    } finally {
      logger.detachAppender(logged);
    }
  }

  private static String log(Logger logger) {
    logger.info("in the branch");
    return "";
  }

  @Test
  void a_failed_attempt_has_its_sanitized_error_and_the_next_attempt_its_own_span() {
    worker(
            (ctx, name) ->
                ctx.step("pay")
                    .retry(Retry.fixed(2, Duration.ofMillis(1)))
                    .execute(String.class, TracingTest::pay))
        .errorSanitizer(failure -> failure.redacted(text -> text.replace("4711", "****")))
        .start();

    assertThat(start().result(SOON)).isEqualTo("paid");

    span("kagzi.run");
    assertThat(spans("kagzi.step pay"))
        .extracting(span -> span.getAttributes().get(ATTEMPT))
        .containsExactly(1L, 2L);
    SpanData failed = spans("kagzi.step pay").get(0);
    assertThat(failed.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(failed.getStatus().getDescription()).isEqualTo("card **** refused");
    assertThat(failed.getEvents()).hasSize(1);
    assertThat(failed.getEvents().get(0).getAttributes().asMap())
        .containsEntry(AttributeKey.stringKey("exception.type"), "java.lang.IllegalStateException");
    assertThat(failed.getEvents().get(0).getAttributes().asMap().values())
        .noneMatch(value -> String.valueOf(value).contains("4711"));
    assertThat(spans("kagzi.step pay").get(1).getStatus().getStatusCode())
        .isEqualTo(StatusCode.UNSET);
  }

  private static String pay(StepContext step) {
    if (step.attempt() == 1) {
      throw new IllegalStateException("card 4711 refused");
    }
    return "paid";
  }

  @Test
  void a_failed_run_has_its_error() {
    worker(
            (ctx, name) -> {
              throw new IllegalArgumentException("no such item");
            })
        .start();

    RunHandle<String> run = start();

    await().atMost(SOON).until(() -> run.status() == RunStatus.FAILED);
    SpanData execution = span("kagzi.run");
    assertThat(execution.getAttributes().get(OUTCOME)).isEqualTo("failed");
    assertThat(execution.getStatus().getDescription()).isEqualTo("no such item");
  }

  @Test
  void a_suspended_run_has_a_span_for_each_execution_and_one_for_each_step_and_sleep() {
    worker(
            (ctx, name) -> {
              ctx.step("first", () -> {});
              ctx.sleep("nap", Duration.ofMillis(1_200));
              return ctx.step("second", String.class, () -> name);
            })
        .start();

    RunHandle<String> run = start();

    assertThat(run.result(SOON)).isEqualTo("Ada");
    await().atMost(SOON).until(() -> spans("kagzi.run").size() == 2);
    assertThat(spans("kagzi.run"))
        .extracting(span -> span.getAttributes().get(OUTCOME))
        .containsExactlyInAnyOrder("suspended", "completed");
    assertThat(spans("kagzi.claim"))
        .extracting(span -> span.getAttributes().get(EPOCH))
        .containsExactly(1L, 2L);
    assertThat(spans("kagzi.step")).hasSize(2);
    assertThat(spans("kagzi.sleep nap")).hasSize(1);
    assertThat(spans("kagzi.claim"))
        .extracting(SpanData::getParentSpanId)
        .containsOnly(span("kagzi.start").getSpanId());
  }

  @Test
  void executions_of_a_run_without_a_trace_context_share_the_trace_of_its_run_id() {
    worker(
            (ctx, name) -> {
              ctx.sleep("nap", Duration.ofMillis(1_200));
              return name;
            })
        .start();

    String runId;
    try (Kagzi untraced = Kagzi.connect(server.address())) {
      RunHandle<String> run = untraced.workflow(GREET).start("Ada");
      runId = run.runId();
      assertThat(run.result(SOON)).isEqualTo("Ada");
    }

    await().atMost(SOON).until(() -> spans("kagzi.run").size() == 2);
    assertThat(spans).extracting(SpanData::getTraceId).containsOnly(runId.replace("-", ""));
    // All runs of the fake server were created years ago, but the start has no span to link to.
    assertThat(spans("kagzi.claim")).allSatisfy(span -> assertThat(span.getLinks()).isEmpty());
  }

  @Test
  void an_execution_long_after_the_start_also_links_to_it() {
    worker((ctx, name) -> name).start();

    start().result(SOON);

    // All runs of the fake server were created years ago.
    assertThat(span("kagzi.claim").getLinks())
        .extracting(link -> link.getSpanContext().getSpanId())
        .containsExactly(span("kagzi.start").getSpanId());
  }

  @Test
  void each_start_of_a_bulk_has_its_own_span() {
    worker((ctx, name) -> name).start();

    kagzi.workflow(GREET).startAll(List.of("a", "b")).forEach(run -> run.result(SOON));

    await().atMost(SOON).until(() -> spans("kagzi.claim").size() == 2);
    assertThat(spans("kagzi.start")).hasSize(2);
    assertThat(spans("kagzi.claim"))
        .extracting(SpanData::getParentSpanId)
        .containsExactlyInAnyOrderElementsOf(
            spans("kagzi.start").stream().map(SpanData::getSpanId).toList());
  }

  @Test
  void a_step_that_ignores_its_timeout_has_failed_in_the_trace_and_in_the_metrics() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    kagzi.close();
    kagzi =
        Kagzi.builder()
            .address(server.address())
            .openTelemetry(telemetry)
            .meterRegistry(registry)
            .connect();
    AtomicBoolean leave = new AtomicBoolean();
    worker(
            (ctx, name) ->
                ctx.step("charge")
                    .timeout(Duration.ofMillis(100))
                    .execute(String.class, step -> charge(step, leave)))
        .start();

    try {
      assertThat(start().result(SOON)).isEqualTo("attempt 2");

      SpanData cutOff = spans("kagzi.step charge").getFirst();
      assertThat(cutOff.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
      assertThat(cutOff.getStatus().getDescription()).contains("charge timed out after 100 ms");
      assertThat(stepTimer(registry, "failed").count()).isEqualTo(1);
      assertThat(stepTimer(registry, "failed").totalTime(TimeUnit.MILLISECONDS))
          .isGreaterThan(1_000);
    } finally {
      leave.set(true);
    }
    await().atMost(SOON).until(() -> spans("kagzi.run").size() == 2);
    assertThat(spans("kagzi.step charge")).hasSize(2);
    assertThat(spans("kagzi.step charge").getFirst().getAttributes().asMap())
        .doesNotContainKey(AttributeKey.booleanKey("kagzi.step.stopped"));
    assertThat(stepTimer(registry, "failed").count()).isEqualTo(1);
    assertThat(stepTimer(registry, "completed").count()).isEqualTo(1);
  }

  private static Timer stepTimer(MeterRegistry registry, String outcome) {
    return registry.get("kagzi.worker.steps").tags("outcome", outcome).timer();
  }

  /** The first attempt ignores its interrupt. */
  private static String charge(StepContext step, AtomicBoolean leave) {
    while (step.attempt() == 1 && !leave.get()) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
    return "attempt " + step.attempt();
  }

  @Test
  void the_start_of_a_child_names_its_queue_also_if_it_is_that_of_its_parent() {
    WorkflowType<String, String> other = GREET.queue("other");
    kagzi
        .worker("orders")
        .workflow(
            GREET,
            (ctx, name) -> {
              ctx.child(GREET).startDetached("same", name);
              ctx.child(other).startDetached("other", name);
              return name;
            })
        .start();

    kagzi.workflow(GREET).queue("orders").start("Ada").result(SOON);

    assertThat(spans("kagzi.start"))
        .extracting(
            span ->
                span.getAttributes().get(AttributeKey.stringKey("kagzi.step.key"))
                    + " "
                    + span.getAttributes().get(AttributeKey.stringKey("kagzi.task_queue")))
        .containsExactlyInAnyOrder("null orders", "same orders", "other other");
  }

  @Test
  void lines_of_the_sdk_about_a_run_have_its_trace() {
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    Logger logger = (Logger) LoggerFactory.getLogger("dev.kagzi.sdk.internal.run");
    logged.start();
    logger.addAppender(logged);
    try {
      Worker worker =
          worker(
                  (ctx, name) -> {
                    throw new IllegalArgumentException("no such item");
                  })
              .start();

      RunHandle<String> run = start();

      String traceId = span("kagzi.run").getTraceId();
      assertThat(logged.list)
          .extracting(ILoggingEvent::getFormattedMessage)
          .containsExactly(
              "run failed run=%s type=greet queue=default worker=%s trace_id=%s attempt=1 error=\"no such item\""
                  .formatted(run.runId(), worker.workerId(), traceId));
    } finally {
      logger.detachAppender(logged);
    }
  }
}
