package dev.kagzi.sdk.internal.run;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What the executions of this worker asked for, by run and scope, of runs that it gave back while
 * they wait: when such a run comes back, the same code has to ask for the same. Of too many, the
 * oldest are forgotten. Thread-safe.
 */
final class EarlierExecutions {
  /** Over all runs, so that memory is bounded by about as many short texts. */
  static final int KEYS_MAX = 50_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Asked> byRun = new LinkedHashMap<>();
  private int keys;

  private record Asked(int attempt, Map<String, List<String>> byScope) {
    int size() {
      return byScope.values().stream().mapToInt(List::size).sum();
    }
  }

  /**
   * @param attempt of the run: another one may take another way
   */
  void keep(String runId, int attempt, Map<String, List<String>> byScope) {
    Asked asked = new Asked(attempt, byScope);
    lock.lock();
    try {
      remove(runId);
      byRun.put(runId, asked);
      keys += asked.size();
      Iterator<Asked> oldest = byRun.values().iterator();
      while (keys > KEYS_MAX && oldest.hasNext()) {
        keys -= oldest.next().size();
        oldest.remove();
      }
    } finally {
      lock.unlock();
    }
  }

  /** The keys that were asked for, by scope; empty if nothing is known. */
  Map<String, List<String>> of(String runId, int attempt) {
    lock.lock();
    try {
      Asked asked = byRun.get(runId);
      return asked == null || asked.attempt != attempt ? Map.of() : asked.byScope;
    } finally {
      lock.unlock();
    }
  }

  /** The run has ended. */
  void forget(String runId) {
    lock.lock();
    try {
      remove(runId);
    } finally {
      lock.unlock();
    }
  }

  private void remove(String runId) {
    Asked asked = byRun.remove(runId);
    if (asked != null) {
      keys -= asked.size();
    }
  }
}
