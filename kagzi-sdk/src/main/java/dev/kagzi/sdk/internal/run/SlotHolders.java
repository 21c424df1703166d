package dev.kagzi.sdk.internal.run;

/** Counts what occupies a run's slot: threads with its code, and its last report. Thread-safe. */
interface SlotHolders {
  void began();

  void ended();
}
