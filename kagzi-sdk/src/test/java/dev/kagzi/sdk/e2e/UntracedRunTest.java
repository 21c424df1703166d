package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.sdk.e2e.OtlpCollector.Received;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A run whose start is over the limit of new traces is in no trace, with all that it starts. */
class UntracedRunTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final WorkflowType<String, String> ORDER =
      WorkflowType.of("order", String.class, String.class);
  private static final WorkflowType<String, String> PARCEL =
      WorkflowType.of("parcel", String.class, String.class);

  /** Has several executions: the sleep and the child suspend the run. */
  private static String order(WorkflowContext ctx, String item) {
    ctx.step("charge", () -> {});
    ctx.sleep("cool-off", Duration.ofMillis(1_500));
    String parcel = ctx.child(PARCEL).run("parcel", item);
    return ctx.step("confirm", String.class, () -> parcel + " " + isTraced());
  }

  private static String parcel(WorkflowContext ctx, String item) {
    return ctx.step("pack", String.class, () -> item);
  }

  private static boolean isTraced() {
    return Span.current().getSpanContext().isSampled();
  }

  @Test
  void only_the_run_that_is_started_below_a_span_of_the_application_has_spans() throws Exception {
    try (OtlpCollector collector = new OtlpCollector()) {
      RunHandle<String> traced;
      // Closing the server and the client's telemetry exports all spans.
      try (RealServer server =
              new RealServer(
                  EngineConfig.defaults(), config -> config.otlpEndpoint(collector.endpoint()));
          OpenTelemetrySdk telemetry = TracedWorkerProcess.telemetry(collector.endpoint(), "shop");
          Kagzi kagzi =
              Kagzi.builder()
                  .address(server.address())
                  .openTelemetry(telemetry)
                  .tracesPerSecondMax(0)
                  .connect()) {
        kagzi
            .worker()
            .workflow(ORDER, UntracedRunTest::order)
            .workflow(PARCEL, UntracedRunTest::parcel)
            .start();

        RunHandle<String> untraced = kagzi.workflow(ORDER).start("lamp");
        traced = startWithinSpan(kagzi, telemetry);

        assertThat(untraced.result(SOON)).isEqualTo("lamp false");
        assertThat(traced.result(SOON)).isEqualTo("chair true");
        assertThat(server.steps(untraced.runId())).hasSize(4);
        assertThat(executions(server, untraced)).isGreaterThan(1);
      }

      List<Received> spans = collector.spans();
      assertThat(spans.stream().map(Received::name).distinct())
          .containsExactlyInAnyOrder(
              "checkout",
              "kagzi.start order",
              "kagzi.server.start order",
              "kagzi.server.dispatch order",
              "kagzi.claim order",
              "kagzi.step charge",
              "kagzi.sleep cool-off",
              "kagzi.run order",
              "kagzi.start parcel",
              "kagzi.server.dispatch parcel",
              "kagzi.claim parcel",
              "kagzi.step pack",
              "kagzi.run parcel",
              "kagzi.step confirm");
      assertThat(spans.stream().map(Received::traceId).distinct()).hasSize(1);
      assertThat(collector.spans("kagzi.claim order"))
          .extracting(span -> span.text("kagzi.run.id"))
          .containsOnly(traced.runId());
    }
  }

  private static int executions(RealServer server, RunHandle<?> run) {
    GetWorkflowRequest request =
        GetWorkflowRequest.newBuilder().setNamespace("default").setRunId(run.runId()).build();
    return server.workflows().getWorkflow(request).getWorkflow().getEpoch();
  }

  private static RunHandle<String> startWithinSpan(Kagzi kagzi, OpenTelemetrySdk telemetry) {
    Span span = telemetry.getTracer("shop").spanBuilder("checkout").startSpan();
    Scope scope = span.makeCurrent();
    try {
      return kagzi.workflow(ORDER).start("chair");
    } finally {
      scope.close();
      span.end();
    }
  }
}
