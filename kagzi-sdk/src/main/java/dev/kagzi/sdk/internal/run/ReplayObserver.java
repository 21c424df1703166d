package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.StepKind;
import org.jspecify.annotations.Nullable;

/**
 * Follows what a run's code asks for, before it gets it: that is how a replay compares code with a
 * record. Thread-safe, since each branch asks in a thread of its own.
 */
public interface ReplayObserver {
  /** What becomes of the code that asks. */
  sealed interface Verdict {
    /** It goes on. */
    record Fits() implements Verdict {}

    /** What it asks for has no result on record: its strand stands still from here on. */
    record RecordEnds() implements Verdict {}

    /** The whole execution ends. */
    record Differs(String how) implements Verdict {}
  }

  /**
   * @param kind unspecified for branches, which leave no record of their own if all goes well
   * @param recorded null if there is no record
   */
  Verdict asked(String key, StepKind kind, @Nullable RecordedStep recorded);

  /** Nobody will ask for steps whose keys begin so: their branches are not executed again. */
  void discarded(String prefix);
}
