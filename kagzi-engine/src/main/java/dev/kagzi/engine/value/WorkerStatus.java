package dev.kagzi.engine.value;

/**
 * The status of a worker. ONLINE gets tasks, DRAINING finishes its tasks and gets no new ones,
 * OFFLINE has left or is considered dead.
 */
public enum WorkerStatus {
  ONLINE,
  DRAINING,
  OFFLINE
}
