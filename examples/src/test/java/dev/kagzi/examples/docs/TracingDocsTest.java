package dev.kagzi.examples.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.testkit.KagziEnv;
import dev.kagzi.testkit.KagziExtension;
import io.opentelemetry.api.OpenTelemetry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The code of docs/tracing.md. */
@ExtendWith(KagziExtension.class)
class TracingDocsTest {
  record Order(String item) {}

  static final WorkflowType<Order, String> PROCESS_ORDER =
      WorkflowType.of("traced-order", Order.class, String.class).queue("traced-orders");

  private static OpenTelemetry telemetry() {
    return OpenTelemetry.noop();
  }

  @Test
  void a_client_with_open_telemetry_is_connected() {
    // docs: tracing.md
    OpenTelemetry telemetry = telemetry(); // your application's: SDK, exporter, sampler
    Kagzi kagzi = Kagzi.builder().address("localhost:50051").openTelemetry(telemetry).connect();
    // end
    assertThat(kagzi.workers()).isEmpty();
    kagzi.close();
  }

  @Test
  void a_workflow_reads_the_headers_of_its_start(KagziEnv env) {
    Kagzi kagzi = env.kagzi();
    Order order = new Order("lamp");
    kagzi
        .worker()
        .workflow(
            PROCESS_ORDER, (ctx, input) -> input.item() + " for " + ctx.headers().get("tenant"))
        .start();
    // docs: tracing.md
    RunHandle<String> run = kagzi.workflow(PROCESS_ORDER).header("tenant", "acme").start(order);
    // end
    assertThat(run.result()).isEqualTo("lamp for acme");
    assertThat(run.info().headers()).containsEntry("tenant", "acme");
  }
}
