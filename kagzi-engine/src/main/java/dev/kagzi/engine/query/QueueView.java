package dev.kagzi.engine.query;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A queue with its open runs and its workers.
 *
 * @param pending runs that wait for a worker: now, after a delay, or because they are blocked
 * @param due runs that a worker could take now: pending ones, sleeping ones whose time has come,
 *     and running ones whose worker is lost; counted up to {@link QueueQueries#DUE_MAX} of each
 *     type and version
 * @param oldestDueMs how long the longest-waiting due run has waited for a worker; null if none is
 *     due
 * @param dueTypes the types and versions of the due runs
 * @param slots how many runs the online workers may execute at once; only of workers that have a
 *     limit and report their load
 * @param slotsFree how many more runs these workers could take at their last heartbeats
 */
public record QueueView(
    String queue,
    long pending,
    long running,
    long sleeping,
    RunCount due,
    @Nullable Long oldestDueMs,
    List<DueType> dueTypes,
    int workersOnline,
    long slots,
    long slotsFree) {

  /** A type and a version of due runs. */
  public record DueType(String type, String version) {}

  public QueueView {
    dueTypes = List.copyOf(dueTypes);
  }
}
