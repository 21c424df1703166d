package dev.kagzi.sdk.internal.run;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The keys that executions in this worker asked for, by run and scope, for runs that were released
 * while they wait. When this worker claims the run again, the same code must ask for the same keys.
 * The oldest are dropped at the limit. Thread-safe.
 */
final class EarlierExecutions {
  /** Over all runs; bounds the memory. */
  static final int KEYS_MAX = 50_000;

  private final Map<String, Asked> byRun = new LinkedHashMap<>();
  private int keys;

  private record Asked(int attempt, Map<String, List<String>> byScope) {
    int size() {
      return byScope.values().stream().mapToInt(List::size).sum();
    }
  }

  /** Stores the attempt as well, because another attempt of the run may take another path. */
  synchronized void remember(String runId, int attempt, Map<String, List<String>> byScope) {
    Asked asked = new Asked(attempt, byScope);
    forget(runId);
    byRun.put(runId, asked);
    keys += asked.size();
    Iterator<Asked> oldest = byRun.values().iterator();
    while (keys > KEYS_MAX && oldest.hasNext()) {
      keys -= oldest.next().size();
      oldest.remove();
    }
  }

  synchronized Map<String, List<String>> of(String runId, int attempt) {
    Asked asked = byRun.get(runId);
    return asked == null || asked.attempt != attempt ? Map.of() : asked.byScope;
  }

  synchronized void forget(String runId) {
    Asked asked = byRun.remove(runId);
    if (asked != null) {
      keys -= asked.size();
    }
  }
}
