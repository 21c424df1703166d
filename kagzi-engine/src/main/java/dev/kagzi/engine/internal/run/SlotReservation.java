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

  /** How long the worker's code may clean up after a cancel; 0: it does not. */
  default long cleanUpMs() {
    return 0;
  }

  /** The run is durable and claimed by the worker, as {@link StartRun#claim}. Dispatches it. */
  void started(StartRun run, Instant createdAt);

  /** No run was inserted for the worker. Releases the slot. */
  void notStarted();
}
