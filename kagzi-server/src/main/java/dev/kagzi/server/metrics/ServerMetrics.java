package dev.kagzi.server.metrics;

import dev.kagzi.engine.metrics.Meters;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.List;
import java.util.Optional;

/** All meters of one server. Thread-safe. */
public final class ServerMetrics implements AutoCloseable {
  /** The format that {@link #text} returns. */
  public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final MetricsConfig config;
  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Meters meters;
  private final JvmGcMetrics collections = new JvmGcMetrics();
  private volatile Runnable beforeText = () -> {};

  /**
   * Creates the meters. If metrics are off, the registry returns meters that record nothing.
   *
   * @param version the server's version, as a label
   */
  public ServerMetrics(MetricsConfig config, String version) {
    this.config = config;
    if (!config.isOn()) {
      registry.config().meterFilter(MeterFilter.deny());
    }
    this.meters = new Meters(registry, config.labelsMax());
    if (config.isOn()) {
      bindProcess(version);
    }
  }

  private void bindProcess(String version) {
    Gauge.builder("kagzi.build", () -> 1)
        .description("Always 1; the label has the version of this server")
        .tag("version", version)
        .register(registry);
    List<MeterBinder> binders =
        List.of(
            new JvmMemoryMetrics(),
            collections,
            new JvmThreadMetrics(),
            new ProcessorMetrics(),
            new FileDescriptorMetrics(),
            new UptimeMetrics());
    binders.forEach(binder -> binder.bindTo(registry));
  }

  public MeterRegistry registry() {
    return registry;
  }

  public Meters meters() {
    return meters;
  }

  /**
   * Sets what runs before each {@link #text}, to refresh values that are not measured continuously.
   */
  public void beforeText(Runnable refresh) {
    this.beforeText = refresh;
  }

  /** Returns all meters as text for Prometheus; empty if metrics are off. May block. */
  public Optional<String> text() {
    if (!config.isOn()) {
      return Optional.empty();
    }
    beforeText.run();
    return Optional.of(registry.scrape());
  }

  @Override
  public void close() {
    collections.close();
    registry.close();
  }
}
