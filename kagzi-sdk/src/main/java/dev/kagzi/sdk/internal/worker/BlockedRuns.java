package dev.kagzi.sdk.internal.worker;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The delays of runs that this code cannot continue: 1 s, doubling to 5 min. The delay of a run
 * begins again at 1 s once the run has continued. Thread-safe.
 */
final class BlockedRuns {
  private static final long DELAY_MS_FIRST = 1_000;
  private static final long DELAY_MS_MAX = 300_000;
  private static final int RUNS_MAX = 10_000;

  private final Map<String, Long> delays =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
          return size() > RUNS_MAX;
        }
      };

  synchronized long nextDelayMs(String runId) {
    return delays.merge(runId, DELAY_MS_FIRST, (last, first) -> Math.min(DELAY_MS_MAX, last * 2));
  }

  synchronized void continued(String runId) {
    delays.remove(runId);
  }
}
