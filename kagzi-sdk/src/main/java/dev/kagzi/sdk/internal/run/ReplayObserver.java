package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.StepKind;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Observes which steps a run's code asks for, before it receives them. A replay uses it to compare
 * code with a history. Thread-safe, because each branch asks on its own thread.
 */
public interface ReplayObserver {
  sealed interface Verdict {
    record Matches() implements Verdict {}

    /** The requested step has no recorded result: the workflow thread is suspended indefinitely. */
    record HistoryEnds() implements Verdict {}

    /** The whole execution stops. */
    record Differs(String how) implements Verdict {}
  }

  /** The kind is unspecified for a group of branches, which may have no step of its own. */
  Verdict asked(String key, StepKind kind, @Nullable RecordedStep recorded);

  /** The steps with these keys will not be asked for; their branches do not run again. */
  void discarded(Set<String> keys);
}
