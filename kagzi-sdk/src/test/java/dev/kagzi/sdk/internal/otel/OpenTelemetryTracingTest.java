package dev.kagzi.sdk.internal.otel;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Which starts begin a trace. */
class OpenTelemetryTracingTest {
  // OpenTelemetry also sets the flag 02: the trace id is random.
  private static final String SAMPLED = "00-[0-9a-f]{32}-[0-9a-f]{16}-0[13]";
  private static final String NOT_SAMPLED = "00-[0-9a-f]{32}-[0-9a-f]{16}-0[02]";
  private static final Logger LOGGER = (Logger) LoggerFactory.getLogger(OpenTelemetryTracing.class);

  private final AtomicLong nanos = new AtomicLong();
  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

  @BeforeEach
  void listen() {
    logged.start();
    LOGGER.addAppender(logged);
  }

  @AfterEach
  void stopListening() {
    LOGGER.detachAppender(logged);
  }

  private OpenTelemetryTracing tracing(int perSecondMax, Sampler sampler) {
    return new OpenTelemetryTracing(
        OpenTelemetrySdk.builder()
            .setTracerProvider(SdkTracerProvider.builder().setSampler(sampler).build())
            .build(),
        new TraceLimit(perSecondMax, nanos::get));
  }

  private OpenTelemetryTracing tracing(int perSecondMax) {
    return tracing(perSecondMax, Sampler.parentBased(Sampler.alwaysOn()));
  }

  /** Starts a run and returns its trace context. */
  private static String start(OpenTelemetryTracing tracing) {
    return startRequest(tracing).getHeadersOrThrow("traceparent");
  }

  private static StartWorkflowRequest.Builder startRequest(OpenTelemetryTracing tracing) {
    StartWorkflowRequest.Builder request =
        StartWorkflowRequest.newBuilder().setWorkflowType("order").setTaskQueue("orders");
    tracing.start(request).end(null, null);
    return request;
  }

  private static String startWithin(Context context, OpenTelemetryTracing tracing) {
    Scope scope = context.makeCurrent();
    try {
      return start(tracing);
    } finally {
      scope.close();
    }
  }

  private static Context caller(TraceFlags flags) {
    return Context.root()
        .with(
            Span.wrap(
                SpanContext.create(
                    "0af7651916cd43dd8448eb211c80319c",
                    "b7ad6b7169203331",
                    flags,
                    TraceState.getDefault())));
  }

  @Test
  void a_start_over_the_limit_has_a_new_context_that_is_not_sampled() {
    OpenTelemetryTracing tracing = tracing(2);

    assertThat(start(tracing)).matches(SAMPLED);
    assertThat(start(tracing)).matches(SAMPLED);
    String third = start(tracing);
    String fourth = start(tracing);

    assertThat(third).matches(NOT_SAMPLED);
    assertThat(fourth).matches(NOT_SAMPLED).isNotEqualTo(third);
  }

  @Test
  void traces_begin_again_when_time_has_passed() {
    OpenTelemetryTracing tracing = tracing(2);
    start(tracing);
    start(tracing);

    nanos.addAndGet(Duration.ofMillis(500).toNanos());

    assertThat(start(tracing)).matches(SAMPLED);
    assertThat(start(tracing)).matches(NOT_SAMPLED);
  }

  @Test
  void a_start_below_a_span_of_the_application_follows_it_and_takes_no_token() {
    OpenTelemetryTracing tracing = tracing(1);

    for (int i = 0; i < 3; i++) {
      assertThat(startWithin(caller(TraceFlags.getSampled()), tracing))
          .startsWith("00-0af7651916cd43dd8448eb211c80319c-")
          .endsWith("-01");
      assertThat(startWithin(caller(TraceFlags.getDefault()), tracing))
          .startsWith("00-0af7651916cd43dd8448eb211c80319c-")
          .endsWith("-00");
    }

    assertThat(start(tracing)).matches(SAMPLED);
    assertThat(start(tracing)).matches(NOT_SAMPLED);
    assertThat(startWithin(caller(TraceFlags.getSampled()), tracing)).endsWith("-01");
  }

  @Test
  void starts_that_the_sampler_leaves_out_take_no_token() {
    Sampler everyOther = Sampler.parentBased(new EveryOther());
    OpenTelemetryTracing tracing = tracing(2, everyOther);

    assertThat(start(tracing)).matches(NOT_SAMPLED);
    assertThat(start(tracing)).matches(SAMPLED);
    assertThat(start(tracing)).matches(NOT_SAMPLED);
    assertThat(start(tracing)).matches(SAMPLED);
    assertThat(start(tracing)).matches(NOT_SAMPLED);
    assertThat(start(tracing)).matches(NOT_SAMPLED);
  }

  @Test
  void baggage_of_the_caller_is_kept_without_a_trace() {
    OpenTelemetryTracing tracing = tracing(0);
    Scope scope = Baggage.builder().put("tenant", "acme").build().makeCurrent();
    try {
      assertThat(startRequest(tracing).getHeadersMap())
          .containsEntry("baggage", "tenant=acme")
          .hasEntrySatisfying("traceparent", value -> assertThat(value).matches(NOT_SAMPLED));
    } finally {
      scope.close();
    }
  }

  @Test
  void the_limit_is_logged_once() {
    OpenTelemetryTracing tracing = tracing(1);

    start(tracing);
    assertThat(logged.list).isEmpty();
    for (int i = 0; i < 3; i++) {
      start(tracing);
    }

    assertThat(logged.list).extracting(ILoggingEvent::getLevel).containsExactly(Level.WARN);
    assertThat(logged.list.getFirst().getFormattedMessage())
        .contains("Kagzi.Builder.tracesPerSecondMax")
        .endsWith("traces_per_second_max=1");
  }

  @Test
  void a_limit_of_0_begins_no_trace_and_logs_nothing() {
    OpenTelemetryTracing tracing = tracing(0);

    assertThat(start(tracing)).matches(NOT_SAMPLED);
    assertThat(logged.list).isEmpty();
  }
}
