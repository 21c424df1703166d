package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.StepKind;
import org.jspecify.annotations.Nullable;

/**
 * Observes which steps a run's code asks for, before it receives them. A replay uses it to compare
 * code with a history. Thread-safe, because each branch asks on its own thread.
 */
public interface ReplayObserver {
  /** How the observed code continues. */
  sealed interface Verdict {
    /** It continues. */
    record Matches() implements Verdict {}

    /** The requested step has no recorded result: the workflow thread is suspended without end. */
    record HistoryEnds() implements Verdict {}

    /** The whole execution stops. */
    record Differs(String how) implements Verdict {}
  }

  /**
   * @param kind unspecified for branches, which record no step of their own if they succeed
   * @param recorded null if nothing is recorded
   */
  Verdict asked(String key, StepKind kind, @Nullable RecordedStep recorded);

  /** Steps with this key prefix will not be asked for; their branches do not run again. */
  void discarded(String prefix);
}
