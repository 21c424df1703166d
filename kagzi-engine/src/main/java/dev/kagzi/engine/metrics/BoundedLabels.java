package dev.kagzi.engine.metrics;

import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The values of two labels, a namespace and a name in it, such as a type or a queue. Names come
 * from callers, so their number is limited: the first {@code max} pairs keep their names, and all
 * later ones share the pair {@code other}. Thread-safe.
 */
public final class BoundedLabels {
  static final String OTHER = "other";

  private final String label;
  private final int max;
  private final Tags other;
  private final Map<String, Map<String, Tags>> known = new ConcurrentHashMap<>();
  private volatile int size;

  BoundedLabels(String label, int max) {
    this.label = label;
    this.max = max;
    this.other = Tags.of("namespace", OTHER, label, OTHER);
  }

  /** Returns the labels of the pair, or those of {@code other} if too many are known already. */
  public Tags of(String namespace, String name) {
    Map<String, Tags> names = known.get(namespace);
    Tags found = names == null ? null : names.get(name);
    if (found != null) {
      return found;
    }
    return size >= max ? other : add(namespace, name);
  }

  boolean isOther(Tags tags) {
    return tags.equals(other);
  }

  private synchronized Tags add(String namespace, String name) {
    Map<String, Tags> names = known.get(namespace);
    Tags found = names == null ? null : names.get(name);
    if (found != null || size >= max) {
      return found == null ? other : found;
    }
    Tags added = Tags.of("namespace", namespace, label, name);
    known.computeIfAbsent(namespace, key -> new ConcurrentHashMap<>()).put(name, added);
    size++;
    return added;
  }
}
