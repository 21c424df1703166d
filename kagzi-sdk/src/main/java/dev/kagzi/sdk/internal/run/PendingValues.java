package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportItem.ValuesPublished.NewValue;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Values that a workflow thread has published and not yet sent: the last one of each name and
 * scope. They are sent after the results that the code had when it published them, so a stored
 * value never depends on a result that a crash can change. Guarded by the lock of the execution
 * state; {@link #isEmpty}, {@link #isOld} and {@link #answered} may be called without it.
 */
final class PendingValues {
  /** Values that wait this long without another report are sent in a report of their own. */
  private static final long WAIT_NANOS_MAX = TimeUnit.SECONDS.toNanos(2);

  /** Values that were published before the held result; empty if no result is held. */
  private final Map<Key, NewValue> beforeHeld = new LinkedHashMap<>();

  private final Map<Key, NewValue> others = new LinkedHashMap<>();
  private volatile long sinceNanos;
  private volatile boolean empty = true;

  /** Whether sent values wait for their answer. Until then, no report is sent for values alone. */
  private volatile boolean inFlight;

  record Key(String scope, String name) {}

  void add(NewValue value, long nowNanos) {
    if (empty) {
      sinceNanos = nowNanos;
      empty = false;
    }
    Key key = new Key(value.getScope(), value.getName());
    beforeHeld.remove(key);
    others.put(key, value);
  }

  /** Takes over the values of a branch that has ended. */
  void addAll(PendingValues branch, long nowNanos) {
    branch.beforeHeld.values().forEach(value -> add(value, nowNanos));
    branch.others.values().forEach(value -> add(value, nowNanos));
    branch.clear();
  }

  /** Called when a result is held: the values published so far must be stored before it. */
  void resultHeld() {
    beforeHeld.putAll(others);
    others.clear();
  }

  /** Drops all values: they are stored already, or another thread has taken them over. */
  void clear() {
    beforeHeld.clear();
    others.clear();
    empty = true;
  }

  boolean isEmpty() {
    return empty;
  }

  boolean isOld(long nowNanos) {
    return !empty && !inFlight && nowNanos - sinceNanos > WAIT_NANOS_MAX;
  }

  void answered() {
    inFlight = false;
  }

  /** Returns what must be sent before the held result; null if nothing. */
  ReportItem.@Nullable ValuesPublished takeBeforeHeld() {
    return take(beforeHeld);
  }

  /** Returns the rest; null if there is none. Call it after {@link #takeBeforeHeld}. */
  ReportItem.@Nullable ValuesPublished takeOthers() {
    ReportItem.ValuesPublished taken = take(others);
    empty = true;
    return taken;
  }

  private ReportItem.@Nullable ValuesPublished take(Map<Key, NewValue> values) {
    if (values.isEmpty()) {
      return null;
    }
    Collection<NewValue> all = values.values();
    ReportItem.ValuesPublished taken =
        ReportItem.ValuesPublished.newBuilder().addAllValues(all).build();
    values.clear();
    inFlight = true;
    return taken;
  }
}
