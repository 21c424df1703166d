package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.value.WorkerId;
import java.time.Instant;

/**
 * A polling worker's slot, reserved for a run that is about to start. The run is inserted as
 * claimed and dispatched to the worker from memory.
 */
public interface SlotReservation {
  WorkerId worker();

  long leaseMs();

  /** The run is durable and claimed by the worker with epoch 1. Dispatches it. */
  void started(StartRun run, Instant createdAt);

  /** No run was inserted for the worker. Releases the slot. */
  void notStarted();
}
