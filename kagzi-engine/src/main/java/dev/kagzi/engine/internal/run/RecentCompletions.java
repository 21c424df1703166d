package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A bounded cache of runs that started on this server, and of their completions. It saves callers
 * that await a recent run a read from the database. Thread-safe.
 */
public final class RecentCompletions {
  private static final int RUNS_MAX = 50_000;
  private static final long BYTES_MAX = 16L << 20;

  private final Map<RunId, Entry> entries = new HashMap<>();
  private final Deque<RunId> order = new ArrayDeque<>();
  private long bytes;

  /**
   * A run that started on this server and has ended.
   *
   * @param isAwaitedElsewhere callers of another server await it
   * @param isCached the completion is kept for later callers
   */
  public record Known(String namespace, boolean isAwaitedElsewhere, boolean isCached) {}

  private record Entry(String namespace, @Nullable RunEnd end, boolean isAwaitedElsewhere) {
    int bytes() {
      if (end == null) {
        return 0;
      }
      int sum = end.output() == null ? 0 : end.output().bytes();
      return end.failure() == null ? sum : sum + end.failure().bytes();
    }
  }

  public synchronized void started(String namespace, RunId run) {
    if (entries.putIfAbsent(run, new Entry(namespace, null, false)) == null) {
      order.add(run);
      trim();
    }
  }

  /**
   * Records that a run has ended: caches its completion, or removes the run if it can be resumed.
   * Returns null if the run is not cached.
   */
  public synchronized @Nullable Known ended(RunEnd end) {
    Entry before = entries.get(end.runId());
    if (before == null) {
      return null;
    }
    if (end.status() == RunStatus.FAILED || end.status() == RunStatus.TIMED_OUT) {
      // Any server may resume the run, so this completion may become outdated and is not cached.
      forget(end.runId());
      return new Known(before.namespace, before.isAwaitedElsewhere, false);
    }
    Entry now = new Entry(before.namespace, end, before.isAwaitedElsewhere);
    entries.put(end.runId(), now);
    bytes += now.bytes() - before.bytes();
    trim();
    return new Known(now.namespace, now.isAwaitedElsewhere, true);
  }

  /**
   * Records that callers of another server await the run. Returns true if the run is known to have
   * ended: then no later event publishes its end.
   */
  public synchronized boolean awaitElsewhere(RunId run) {
    Entry entry = entries.get(run);
    if (entry == null) {
      return false;
    }
    entries.put(run, new Entry(entry.namespace, entry.end, true));
    return entry.end != null;
  }

  public synchronized void forget(RunId run) {
    Entry gone = entries.remove(run);
    if (gone != null) {
      bytes -= gone.bytes();
    }
  }

  public synchronized void forgetAll() {
    entries.clear();
    order.clear();
    bytes = 0;
  }

  public synchronized @Nullable RunEnd end(RunId run, String namespace) {
    Entry entry = entries.get(run);
    return entry != null && entry.namespace.equals(namespace) ? entry.end : null;
  }

  public synchronized boolean isActive(RunId run, String namespace) {
    Entry entry = entries.get(run);
    return entry != null && entry.namespace.equals(namespace) && entry.end == null;
  }

  private void trim() {
    while (order.size() > RUNS_MAX || (bytes > BYTES_MAX && !order.isEmpty())) {
      forget(order.remove());
    }
  }
}
