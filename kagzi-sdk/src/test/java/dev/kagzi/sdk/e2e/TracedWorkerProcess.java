package dev.kagzi.sdk.e2e;

import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.StepContext;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.exporter.otlp.trace.OtlpGrpcSpanExporter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * A worker that exports its spans. Arguments: the server, the queue, the collector, and the step at
 * which it stops and waits to be killed.
 */
final class TracedWorkerProcess {
  static final String WAITING = "waiting to be killed";

  private TracedWorkerProcess() {}

  public static void main(String[] args) throws InterruptedException {
    TracedWorkerProcess.Order order = new Order(args[3]);
    OpenTelemetry telemetry = telemetry(args[2], "worker");
    try (Kagzi kagzi = Kagzi.builder().address(args[0]).openTelemetry(telemetry).connect()) {
      Worker worker =
          kagzi
              .worker()
              .workflow(orderType(args[1]), order::run)
              .workflow(parcelType(args[1]), TracedWorkerProcess::parcel)
              .start();
      worker.awaitTermination();
    }
  }

  /** Exports each span as soon as it ends, so that a kill loses only spans that have not ended. */
  static OpenTelemetrySdk telemetry(String endpoint, String service) {
    return OpenTelemetrySdk.builder()
        .setTracerProvider(
            SdkTracerProvider.builder()
                .setResource(
                    Resource.create(Attributes.of(AttributeKey.stringKey("service.name"), service)))
                .addSpanProcessor(
                    SimpleSpanProcessor.create(
                        OtlpGrpcSpanExporter.builder().setEndpoint(endpoint).build()))
                .build())
        .build();
  }

  static WorkflowType<String, String> orderType(String queue) {
    return WorkflowType.of("order", String.class, String.class).queue(queue);
  }

  static WorkflowType<String, String> parcelType(String queue) {
    return WorkflowType.of("parcel", String.class, String.class).queue(queue);
  }

  private record Order(String stopAt) {
    String run(WorkflowContext ctx, String item) {
      ctx.step("charge", () -> stop("charge"));
      ctx.step("pack", () -> stop("pack"));
      ctx.step("label", () -> stop("label"));
      ctx.sleep("cool-off", Duration.ofMillis(1_500));
      WorkflowType<String, String> parcel = parcelType(ctx.queue());
      ChildHandle<String> first = ctx.child(parcel).start("parcel", item + " 1");
      ChildHandle<String> second = ctx.child(parcel).start("parcel", item + " 2");
      List<String> sent = ctx.results(List.of(first, second));
      return ctx.step("confirm")
          .retry(Retry.fixed(3, Duration.ofMillis(10)))
          .execute(String.class, step -> confirm(step, sent));
    }

    private static String confirm(StepContext step, List<String> sent) {
      if (step.attempt() == 1) {
        throw new IllegalStateException("mail server is busy");
      }
      return String.join(", ", sent);
    }

    private void stop(String step) throws InterruptedException {
      if (step.equals(stopAt)) {
        System.out.println(WAITING);
        new CountDownLatch(1).await();
      }
    }
  }

  private static String parcel(WorkflowContext ctx, String item) {
    return ctx.step("send", String.class, () -> "sent " + item);
  }
}
