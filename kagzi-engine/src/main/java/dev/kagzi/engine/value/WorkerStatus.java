package dev.kagzi.engine.value;

/** The status of a worker: ONLINE takes tasks, DRAINING finishes its tasks, OFFLINE is gone. */
public enum WorkerStatus {
  ONLINE,
  DRAINING,
  OFFLINE
}
