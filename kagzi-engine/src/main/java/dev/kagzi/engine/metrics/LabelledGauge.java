package dev.kagzi.engine.metrics;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A gauge with a value for each set of labels, which are measured together. Thread-safe. */
public final class LabelledGauge {
  private final MeterRegistry registry;
  private final String name;
  private final String description;
  private final Map<Tags, Value> values = new ConcurrentHashMap<>();

  private static final class Value {
    private volatile double number;
  }

  LabelledGauge(MeterRegistry registry, String name, String description) {
    this.registry = registry;
    this.name = name;
    this.description = description;
  }

  /** Sets the values. A set of labels that had a value before and is missing now gets zero. */
  public void set(Map<Tags, Double> measured) {
    values.forEach((tags, value) -> value.number = measured.getOrDefault(tags, 0.0));
    measured.forEach((tags, number) -> value(tags).number = number);
  }

  /** Shows NaN for all labels, because the values are not known any more. */
  public void setUnknown() {
    values.values().forEach(value -> value.number = Double.NaN);
  }

  private Value value(Tags tags) {
    return values.computeIfAbsent(
        tags,
        absent -> {
          Value value = new Value();
          Gauge.builder(name, value, v -> v.number)
              .description(description)
              .tags(tags)
              .register(registry);
          return value;
        });
  }
}
