package dev.kagzi.engine.metrics;

import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Meters for each pair of {@link BoundedLabels}. A lookup of a known pair allocates nothing.
 * Thread-safe.
 */
final class BoundedMeters<M> {
  private final BoundedLabels labels;
  private final Function<Tags, M> create;
  private final Map<String, Map<String, M>> known = new ConcurrentHashMap<>();
  private final Map<Tags, M> byLabels = new ConcurrentHashMap<>();

  BoundedMeters(BoundedLabels labels, Function<Tags, M> create) {
    this.labels = labels;
    this.create = create;
  }

  M of(String namespace, String name) {
    Map<String, M> names = known.get(namespace);
    M found = names == null ? null : names.get(name);
    if (found != null) {
      return found;
    }
    Tags tags = labels.of(namespace, name);
    M meters = byLabels.computeIfAbsent(tags, create);
    if (!labels.isOther(tags)) {
      known.computeIfAbsent(namespace, key -> new ConcurrentHashMap<>()).put(name, meters);
    }
    return meters;
  }
}
