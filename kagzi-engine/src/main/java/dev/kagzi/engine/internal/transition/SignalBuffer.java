package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.run.SignalRun;
import dev.kagzi.engine.internal.signal.SignalRow;
import dev.kagzi.engine.internal.signal.SignalRows;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.WorkerId;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The signals that one transaction has read or adds, in the order of their arrival, with the steps
 * that receive them. Decided in memory, under the locks of their runs, and written once.
 */
final class SignalBuffer {
  /** By run and number. A read signal is written if its step differs from the stored one. */
  private final Map<RunId, SortedMap<Integer, Held>> signals = new HashMap<>();

  private final Set<SignalRows.Scope> givenBack = new LinkedHashSet<>();
  private final Map<RunId, Totals> totals = new HashMap<>();
  private final Map<SignalRow.Key, SignalRows.Known> known = new HashMap<>();
  private Map<SignalRow.Key, SignalRows.Accepted> accepted = Map.of();

  private static final class Held {
    private SignalRow row;
    private final boolean isNew;
    private @Nullable String storedStep;

    Held(SignalRow row, boolean isNew) {
      this.row = row;
      this.isNew = isNew;
      this.storedStep = row.stepKey();
    }

    boolean isChanged() {
      String step = row.stepKey();
      return !isNew && (step == null ? storedStep != null : !step.equals(storedStep));
    }
  }

  private static final class Totals {
    private int lastNumber;
    private int buffered;
    private long bytes;
    private final boolean isSimple;

    Totals(SignalRows.State state) {
      this.lastNumber = state.lastNumber();
      this.buffered = state.buffered();
      this.bytes = state.bufferedBytes();
      this.isSimple = state.isSimple();
    }
  }

  /** Reads what the decisions about these sent signals need. */
  void readSent(Session tx, List<SignalRun> writes, Map<RunId, RunRow> rows) throws SQLException {
    Map<RunId, @Nullable WorkerId> holders = new LinkedHashMap<>();
    Map<SignalRow.Key, RunId> keys = new LinkedHashMap<>();
    List<SignalRows.Sent> calls = new ArrayList<>();
    for (SignalRun write : writes) {
      RunRow row = rows.get(write.runId());
      if (row == null) {
        continue;
      }
      SignalRow.Key key = new SignalRow.Key(write.runId(), write.signal().signalId());
      holders.put(write.runId(), row.lockedBy());
      keys.put(key, row.chainId());
      if (!write.externalId().isEmpty()) {
        calls.add(
            new SignalRows.Sent(
                key, new SignalRow.StartKey(write.namespace(), write.externalId())));
      }
    }
    if (!holders.isEmpty()) {
      SignalRows.states(tx, holders).forEach((run, state) -> totals.put(run, new Totals(state)));
      known.putAll(SignalRows.known(tx, keys));
    }
    if (!calls.isEmpty()) {
      accepted = SignalRows.accepted(tx, calls);
    }
  }

  /** Reads signals that steps may receive. */
  void readOldest(Session tx, Collection<SignalRows.Wanted> wanted) throws SQLException {
    if (!wanted.isEmpty()) {
      SignalRows.oldest(tx, wanted).forEach(row -> hold(row, false));
    }
  }

  /** Reads signals that other steps may receive, after these branches have given them back. */
  void readReceived(Session tx, Collection<SignalRows.Received> wanted) throws SQLException {
    if (!wanted.isEmpty()) {
      SignalRows.received(tx, wanted).forEach(row -> hold(row, false));
    }
  }

  private void hold(SignalRow row, boolean isNew) {
    signals
        .computeIfAbsent(row.runId(), run -> new TreeMap<>())
        .put(row.number(), new Held(row, isNew));
  }

  /** The run's signal with this id, stored or added; null if there is none. */
  SignalRows.@Nullable Known known(RunId run, String signalId) {
    return known.get(new SignalRow.Key(run, signalId));
  }

  /** The run that has accepted the signal of a {@code SignalOrStartWorkflow} call; null if none. */
  SignalRows.@Nullable Accepted acceptedBy(SignalRun write) {
    return accepted.get(new SignalRow.Key(write.runId(), write.signal().signalId()));
  }

  int buffered(RunId run) {
    return totals(run).buffered;
  }

  long bufferedBytes(RunId run) {
    return totals(run).bytes;
  }

  boolean isHeldBySimpleClient(RunId run) {
    return totals(run).isSimple;
  }

  private Totals totals(RunId run) {
    return totals.computeIfAbsent(run, unused -> new Totals(SignalRows.State.NONE));
  }

  /**
   * Appends a signal after all others of its run.
   *
   * @param firstRun the first run of its chain; null if that is the run itself
   */
  void add(
      RunId run,
      @Nullable RunId firstRun,
      SignalRequest signal,
      SignalRow.@Nullable StartKey startedBy) {
    Totals of = totals(run);
    of.lastNumber++;
    if (!CallbackAnswer.isSignalName(signal.name())) {
      of.buffered++;
      of.bytes += signal.payload().data().length;
    }
    known.put(
        new SignalRow.Key(run, signal.signalId()),
        new SignalRows.Known(signal.name(), CallbackAnswer.isFailure(signal.payload())));
    hold(
        new SignalRow(
            run,
            of.lastNumber,
            signal.signalId(),
            signal.name(),
            signal.payload(),
            null,
            startedBy,
            firstRun),
        true);
  }

  /** Gives the oldest signal of the name to the step; returns its content, or null if none. */
  @Nullable Payload receive(RunId run, String name, String stepKey) {
    SortedMap<Integer, Held> all = signals.get(run);
    if (all == null) {
      return null;
    }
    for (Held each : all.values()) {
      if (each.row.stepKey() == null && each.row.name().equals(name)) {
        Payload payload = each.row.payload();
        if (each.row.isAnswer()) {
          return payload == null ? Payload.EMPTY : payload;
        }
        each.row = each.row.withStep(stepKey);
        Totals of = totals.get(run);
        if (of != null) {
          of.buffered--;
          of.bytes -= payload == null ? 0 : payload.data().length;
        }
        return payload == null ? Payload.EMPTY : payload;
      }
    }
    return null;
  }

  /**
   * Puts the signals that the steps of a branch received back into the buffer. Those that this
   * transaction has not read are given back by a statement, because they may be many.
   */
  void giveBack(RunId run, String scope) {
    givenBack.add(new SignalRows.Scope(run, scope));
    for (Held each : signals.getOrDefault(run, Collections.emptySortedMap()).values()) {
      String step = each.row.stepKey();
      if (step != null && step.startsWith(scope)) {
        each.row = each.row.withStep(null);
        each.storedStep = null;
        Payload payload = each.row.payload();
        Totals of = totals.get(run);
        if (of != null) {
          of.buffered++;
          of.bytes += payload == null ? 0 : payload.data().length;
        }
      }
    }
  }

  /**
   * Writes which signals are buffered again. Call it before steps are deleted, because the contents
   * are in the steps, and before {@link #flush}.
   */
  void flushGivenBack(Session tx) throws SQLException {
    if (!givenBack.isEmpty()) {
      SignalRows.giveBack(tx, givenBack);
    }
  }

  void flush(Session tx) throws SQLException {
    List<SignalRow> added = new ArrayList<>();
    List<SignalRow> changed = new ArrayList<>();
    for (SortedMap<Integer, Held> all : signals.values()) {
      for (Held each : all.values()) {
        if (each.isNew) {
          added.add(each.row);
        } else if (each.isChanged()) {
          changed.add(each.row);
        }
      }
    }
    if (!changed.isEmpty()) {
      SignalRows.update(tx, changed);
    }
    if (!added.isEmpty()) {
      SignalRows.insert(tx, added);
    }
  }
}
