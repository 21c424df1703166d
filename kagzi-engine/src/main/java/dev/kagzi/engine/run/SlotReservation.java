package dev.kagzi.engine.run;

import dev.kagzi.engine.value.WorkerId;
import java.time.Instant;

/**
 * A waiting worker's slot, kept for a run that is about to start: the run is inserted as claimed
 * and goes to the worker from memory.
 */
public interface SlotReservation {
  /** Who gets the run. */
  WorkerId worker();

  /** How long its first lease is. */
  long leaseMs();

  /** The run is durable, claimed by the worker with epoch 1. */
  void started(StartRun run, Instant createdAt);

  /** There is no run to hand over after all. */
  void notStarted();
}
