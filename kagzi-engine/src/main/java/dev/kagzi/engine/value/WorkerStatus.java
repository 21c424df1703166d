package dev.kagzi.engine.value;

/** Whether a worker takes work: ONLINE does, DRAINING finishes what it has, OFFLINE is gone. */
public enum WorkerStatus {
  ONLINE,
  DRAINING,
  OFFLINE
}
