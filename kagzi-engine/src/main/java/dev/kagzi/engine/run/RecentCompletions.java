package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Runs that this server has seen start, and how they ended, for as long as memory allows: it spares
 * whoever awaits a young run a read. What it forgets is read from the database. Thread-safe.
 */
final class RecentCompletions {
  private static final int RUNS_MAX = 50_000;
  private static final long BYTES_MAX = 16L << 20;

  private final Map<RunId, Entry> entries = new HashMap<>();
  private final Deque<RunId> order = new ArrayDeque<>();
  private long bytes;

  private record Entry(String namespace, @Nullable RunEnd end) {
    int bytes() {
      if (end == null) {
        return 0;
      }
      int sum = end.output() == null ? 0 : end.output().bytes();
      return end.failure() == null ? sum : sum + end.failure().bytes();
    }
  }

  synchronized void started(String namespace, RunId run) {
    if (entries.putIfAbsent(run, new Entry(namespace, null)) == null) {
      order.add(run);
      trim();
    }
  }

  /** The namespace of the run, if this server has seen it start. */
  synchronized @Nullable String ended(RunEnd end) {
    Entry before = entries.get(end.runId());
    if (before == null) {
      return null;
    }
    if (end.status() == RunStatus.FAILED || end.status() == RunStatus.TIMED_OUT) {
      // Somebody may resume it, on any server: such an end is read where it is stored.
      forget(end.runId());
      return before.namespace;
    }
    Entry now = new Entry(before.namespace, end);
    entries.put(end.runId(), now);
    bytes += now.bytes() - before.bytes();
    trim();
    return now.namespace;
  }

  synchronized void forget(RunId run) {
    Entry gone = entries.remove(run);
    if (gone != null) {
      bytes -= gone.bytes();
    }
  }

  synchronized @Nullable RunEnd end(RunId run, String namespace) {
    Entry entry = entries.get(run);
    return entry != null && entry.namespace.equals(namespace) ? entry.end : null;
  }

  synchronized boolean isActive(RunId run, String namespace) {
    Entry entry = entries.get(run);
    return entry != null && entry.namespace.equals(namespace) && entry.end == null;
  }

  private void trim() {
    while (order.size() > RUNS_MAX || (bytes > BYTES_MAX && !order.isEmpty())) {
      forget(order.remove());
    }
  }
}
