package dev.kagzi.server.grpc;

import dev.kagzi.engine.value.WorkerId;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The workers that registered, polled or sent heartbeats over one connection. A proxy may carry
 * many, so the oldest are dropped. Thread-safe.
 */
final class ConnectionWorkers {
  private static final int WORKERS_MAX = 1_000;

  /** Copy on write: reads are frequent, additions rare. */
  private volatile Set<WorkerId> workers = Set.of();

  void add(WorkerId worker) {
    if (!workers.contains(worker)) {
      addNew(worker);
    }
  }

  private synchronized void addNew(WorkerId worker) {
    Set<WorkerId> more = new LinkedHashSet<>(workers);
    more.add(worker);
    if (more.size() > WORKERS_MAX) {
      more.remove(more.iterator().next());
    }
    workers = more;
  }

  Set<WorkerId> all() {
    return workers;
  }
}
