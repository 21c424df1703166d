package dev.kagzi.examples.docs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.WorkflowType;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

/** The code of docs/metrics.md. It needs no server: a client connects in the background. */
class MetricsDocsTest {

  private static Kagzi connect(MeterRegistry registry) {
    // docs: metrics.md
    Kagzi kagzi = Kagzi.builder().address("localhost:50051").meterRegistry(registry).connect();
    // end
    return kagzi;
  }

  @Test
  void a_worker_shows_its_slots_in_the_registry_of_the_application() {
    MeterRegistry registry = new SimpleMeterRegistry();
    WorkflowType<String, String> type =
        WorkflowType.of("greet", String.class, String.class).queue("greetings");
    try (Kagzi kagzi = connect(registry)) {
      kagzi.worker().workflow(type, (ctx, name) -> name).maxConcurrent(7).start();

      assertThat(registry.get("kagzi.worker.slots").tag("state", "free").gauge().value())
          .isEqualTo(7);
    }
  }
}
