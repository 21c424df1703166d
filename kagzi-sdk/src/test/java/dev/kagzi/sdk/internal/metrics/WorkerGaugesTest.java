package dev.kagzi.sdk.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.sdk.internal.metrics.ClientMetrics.WorkerNumbers;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class WorkerGaugesTest {
  private final MeterRegistry registry = new SimpleMeterRegistry();

  private Runnable start(String namespace, String queue, int slots, int used, int stuck) {
    // Each client has its own metrics.
    return new MicrometerMetrics(registry, namespace)
        .workerStarted(queue, new WorkerNumbers(slots, () -> used, () -> stuck));
  }

  private String shown(String namespace, String queue) {
    return "used %.0f free %.0f stuck %.0f"
        .formatted(
            value("kagzi.worker.slots", namespace, queue, "state", "used"),
            value("kagzi.worker.slots", namespace, queue, "state", "free"),
            value("kagzi.worker.stuck", namespace, queue));
  }

  private double value(String name, String namespace, String queue, String... more) {
    Gauge gauge =
        registry.get(name).tags("namespace", namespace, "queue", queue).tags(more).gauge();
    return gauge.value();
  }

  @Test
  void workers_of_one_queue_are_shown_as_their_sum_until_the_last_of_them_closes() {
    Runnable first = start("default", "orders", 10, 4, 1);
    Runnable second = start("default", "orders", 5, 5, 2);

    assertThat(shown("default", "orders")).isEqualTo("used 9 free 6 stuck 3");

    first.run();
    assertThat(shown("default", "orders")).isEqualTo("used 5 free 0 stuck 2");

    second.run();
    assertThat(registry.getMeters()).isEmpty();
    start("default", "orders", 3, 1, 0);
    assertThat(shown("default", "orders")).isEqualTo("used 1 free 2 stuck 0");
  }

  @Test
  void workers_of_other_queues_namespaces_and_registries_are_not_added() {
    start("default", "orders", 10, 4, 1);
    start("default", "mails", 7, 1, 0);
    start("shop", "orders", 8, 2, 0);
    new MicrometerMetrics(new SimpleMeterRegistry(), "default")
        .workerStarted("orders", new WorkerNumbers(9, () -> 9, () -> 9));

    assertThat(shown("default", "orders")).isEqualTo("used 4 free 6 stuck 1");
    assertThat(shown("default", "mails")).isEqualTo("used 1 free 6 stuck 0");
    assertThat(shown("shop", "orders")).isEqualTo("used 2 free 6 stuck 0");
  }

  @Test
  void a_registry_that_refuses_one_gauge_keeps_none_and_shows_the_next_worker() {
    AtomicBoolean broken = new AtomicBoolean(true);
    registry
        .config()
        .meterFilter(
            new MeterFilter() {
              @Override
              public MeterFilterReply accept(Meter.Id id) {
                if (broken.get() && id.getName().equals("kagzi.worker.stuck")) {
                  throw new IllegalStateException("broken filter");
                }
                return MeterFilterReply.NEUTRAL;
              }
            });

    assertThatThrownBy(() -> start("default", "orders", 10, 4, 1)).hasMessage("broken filter");

    assertThat(registry.getMeters()).isEmpty();
    broken.set(false);
    start("default", "orders", 3, 1, 0);
    assertThat(shown("default", "orders")).isEqualTo("used 1 free 2 stuck 0");
  }
}
