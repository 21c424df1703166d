package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.grpc.Status;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

/** Telemetry of the application that throws: it costs no run, no result and no slot. */
class BrokenTelemetryTest extends FakeServerTest {
  private static final Logger GUARD =
      (Logger) LoggerFactory.getLogger("dev.kagzi.sdk.internal.log.TelemetryGuard");

  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
  private final AtomicInteger executions = new AtomicInteger();

  @BeforeEach
  void listen() {
    logged.list = new CopyOnWriteArrayList<>();
    logged.start();
    GUARD.addAppender(logged);
  }

  @AfterEach
  void listenNoMore() {
    GUARD.detachAppender(logged);
  }

  private static OpenTelemetry throwsOn(boolean start) {
    SpanProcessor broken =
        new SpanProcessor() {
          @Override
          public void onStart(Context parent, ReadWriteSpan span) {
            if (start) {
              throw new IllegalStateException("broken processor");
            }
          }

          @Override
          public boolean isStartRequired() {
            return true;
          }

          @Override
          public void onEnd(ReadableSpan span) {
            throw new StackOverflowError("broken processor");
          }

          @Override
          public boolean isEndRequired() {
            return true;
          }
        };
    return OpenTelemetrySdk.builder()
        .setTracerProvider(SdkTracerProvider.builder().addSpanProcessor(broken).build())
        .build();
  }

  /** The filter fails whenever a new meter is made: of a call, a run, a step or a worker. */
  private static SimpleMeterRegistry brokenRegistry() {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    registry
        .config()
        .meterFilter(
            new MeterFilter() {
              @Override
              public MeterFilterReply accept(Meter.Id id) {
                throw new IllegalStateException("broken filter");
              }
            });
    return registry;
  }

  private void connect(Kagzi.Builder options) {
    kagzi.close();
    kagzi = options.address(server.address()).connect();
  }

  private String code(WorkflowContext ctx, String name) {
    ctx.step("first", () -> executions.incrementAndGet());
    ctx.sleep("nap", Duration.ofMillis(1));
    ctx.child(GREET).startDetached("child", name);
    List<String> branches =
        ctx.parallel("pack")
            .each(
                List.of("a", "b"),
                (branch, item) -> branch.step("wrap", String.class, () -> item + "!"));
    return ctx.step("last")
        .retry(Retry.fixed(2, Duration.ofMillis(1)))
        .execute(
            String.class,
            step -> {
              if (step.attempt() == 1) {
                throw new IllegalStateException("again");
              }
              return name + branches;
            });
  }

  private void executeTwoRunsInOneSlot() throws InterruptedException {
    Worker worker = worker(this::code).maxConcurrent(1).start();

    for (int run = 1; run <= 2; run++) {
      assertThat(start().result(SOON)).isEqualTo("Ada[a!, b!]");
      assertThat(executions).hasValue(run);
    }

    await().atMost(SOON).until(() -> worker.activeCount() == 0);
    worker.shutdown();
    assertThat(worker.awaitTermination(SOON)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({"true", "false"})
  void span_processors_that_throw_cost_nothing(boolean atStart) throws Exception {
    connect(Kagzi.builder().openTelemetry(throwsOn(atStart)));

    executeTwoRunsInOneSlot();

    assertThat(logged.list).extracting(ILoggingEvent::getFormattedMessage).isNotEmpty();
  }

  @Test
  void a_registry_that_throws_costs_nothing_and_is_logged_once_for_each_call() throws Exception {
    connect(Kagzi.builder().meterRegistry(brokenRegistry()));

    executeTwoRunsInOneSlot();

    assertThat(logged.list.stream().filter(line -> line.getLevel() == Level.WARN))
        .extracting(line -> line.getFormattedMessage().replaceAll(".* call=", ""))
        .containsExactlyInAnyOrder(
            "\"worker started\"", "\"call ended\"", "\"step ended\"", "\"run ended\"");
  }

  @Test
  void a_start_that_is_refused_is_not_hidden_by_telemetry_that_throws() {
    connect(Kagzi.builder().openTelemetry(throwsOn(true)));

    server.fail("StartWorkflows", Status.PERMISSION_DENIED.withDescription("not you"));

    assertThatExceptionOfType(RequestRefusedException.class)
        .isThrownBy(() -> start())
        .withMessageContaining("not you");
  }
}
