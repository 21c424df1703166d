package dev.kagzi.sdk.internal.replay;

import dev.kagzi.sdk.internal.replay.RecordedRun.Entry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The recorded steps that the code has not asked for yet, by scope. The main code has a scope, and
 * each branch has a scope in the scope that opened it. Steps of one scope and of nested scopes have
 * an order; steps of parallel branches have none. Not thread-safe.
 */
final class UnconsumedSteps {
  private static final Comparator<Entry> BY_END =
      Comparator.comparing(Entry::over).thenComparingInt(Entry::number);

  private final Map<String, SortedSet<Entry>> own = new HashMap<>();

  /** By scope, its steps and those of nested scopes. */
  private final Map<String, SortedSet<Entry>> within = new HashMap<>();

  UnconsumedSteps(Collection<Entry> entries) {
    for (Entry entry : entries) {
      set(own, scope(entry.key())).add(entry);
      scopesAround(entry.key()).forEach(scope -> set(within, scope).add(entry));
    }
  }

  private static SortedSet<Entry> set(Map<String, SortedSet<Entry>> sets, String scope) {
    return sets.computeIfAbsent(scope, unused -> new TreeSet<>(BY_END));
  }

  void remove(Entry entry) {
    set(own, scope(entry.key())).remove(entry);
    scopesAround(entry.key()).forEach(scope -> set(within, scope).remove(entry));
  }

  void removeAll(Set<String> keys) {
    for (Entry entry : List.copyOf(set(within, ""))) {
      if (keys.contains(entry.key())) {
        remove(entry);
      }
    }
  }

  /**
   * Returns the first step whose order relative to this key is known, because it is not in a
   * parallel branch. The branches of the key's own group are excluded: their times equal the
   * group's, to the millisecond.
   */
  @Nullable Entry firstAround(String key) {
    String branches = key + "[";
    Entry first = first(within, scope(key), branches);
    for (String scope : scopesAround(key)) {
      Entry other = first(own, scope, branches);
      if (other != null && (first == null || BY_END.compare(other, first) < 0)) {
        first = other;
      }
    }
    return first;
  }

  @Nullable Entry first() {
    SortedSet<Entry> all = set(within, "");
    return all.isEmpty() ? null : all.first();
  }

  private static @Nullable Entry first(
      Map<String, SortedSet<Entry>> sets, String scope, String except) {
    for (Entry entry : set(sets, scope)) {
      if (!entry.key().startsWith(except)) {
        return entry;
      }
    }
    return null;
  }

  private static String scope(String key) {
    return key.substring(0, key.lastIndexOf('/') + 1);
  }

  private static List<String> scopesAround(String key) {
    List<String> scopes = new ArrayList<>();
    scopes.add("");
    for (int slash = key.indexOf('/'); slash >= 0; slash = key.indexOf('/', slash + 1)) {
      scopes.add(key.substring(0, slash + 1));
    }
    return scopes;
  }
}
