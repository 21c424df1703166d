package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.run.InsertRuns;
import dev.kagzi.engine.internal.run.InsertRuns.ConflictingRun;
import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.run.SlotReservation;
import dev.kagzi.engine.internal.run.StartRun;
import dev.kagzi.engine.internal.signal.SignalRow;
import dev.kagzi.engine.internal.signal.SignalRows;
import dev.kagzi.engine.run.IfExists;
import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Inserts the runs that callers start. A start that conflicts with a run returns it or is refused.
 * Children and failure handlers, whose ids are reserved, are inserted by {@link RunBatch}.
 */
record RunStarts(Session tx, RunBatch batch, RunEvents events) {
  private static final int ROUNDS_MAX = 5;

  /**
   * Inserts the runs, and answers or refuses every start. Returns false if it has written nothing.
   */
  boolean insert(List<StartRun> starts) throws SQLException {
    starts.forEach(start -> start.signalStored(false));
    // A second start with the same run id, usually a repeated call, is handled after the first one.
    Map<RunId, StartRun> firsts = new LinkedHashMap<>();
    List<StartRun> repeats = new ArrayList<>();
    List<StartRun> refused = new ArrayList<>();
    for (StartRun start : starts) {
      if (start.refusal() != null) {
        refused.add(start);
      } else if (firsts.putIfAbsent(start.runId(), start) != null) {
        repeats.add(start);
      }
    }
    boolean hasInserted = insertRounds(withExistingParents(new ArrayList<>(firsts.values())));
    if (!repeats.isEmpty()) {
      hasInserted |= insertRounds(repeats);
    }
    if (!refused.isEmpty()) {
      answerRefused(refused);
    }
    return hasInserted;
  }

  /** Answers starts that a disabled namespace refuses; one accepted earlier returns its run. */
  private void answerRefused(List<StartRun> starts) throws SQLException {
    Map<RunId, List<ConflictingRun>> conflicts = InsertRuns.conflicts(tx, starts);
    for (StartRun start : starts) {
      boolean acceptedBefore =
          conflicts.getOrDefault(start.runId(), List.of()).stream()
              .anyMatch(
                  existing -> existing.runId().equals(start.runId()) && isSame(start, existing));
      if (acceptedBefore) {
        start.answer(StartResult.made(start.runId()));
      } else {
        start.refuse(Objects.requireNonNull(start.refusal()));
      }
    }
  }

  private static boolean isSame(StartRun start, ConflictingRun existing) {
    StartRequest request = start.request();
    return existing.namespace().equals(request.namespace())
        && existing.workflowType().equals(request.workflowType())
        && Objects.requireNonNullElse(existing.externalId(), "").equals(request.externalId());
  }

  /** Refuses starts whose parent does not exist in their namespace; returns the others. */
  private List<StartRun> withExistingParents(List<StartRun> starts) throws SQLException {
    List<StartRun> children =
        starts.stream().filter(start -> start.lineage().parent() != null).toList();
    if (children.isEmpty()) {
      return starts;
    }
    Set<RunId> parents = InsertRuns.parents(tx, children);
    List<StartRun> left = new ArrayList<>(starts);
    for (StartRun start : children) {
      RunId parent = start.lineage().parent();
      if (parent != null && !parents.contains(parent)) {
        left.remove(start);
        resolveReservation(start, null);
        start.refuse(
            Refusal.of(
                Refusal.Code.PARENT_NOT_FOUND,
                "parent_run_id",
                parent.toString(),
                "parent_run_id: %s (expected: a run of namespace %s)"
                    .formatted(parent, start.request().namespace())));
      }
    }
    return left;
  }

  /** Repeats the insert if the conflicting run ended between the insert and the lookup. */
  private boolean insertRounds(List<StartRun> starts) throws SQLException {
    boolean hasInserted = false;
    List<StartRun> open = answerEnded(starts);
    for (int round = 0; round < ROUNDS_MAX && !open.isEmpty(); round++) {
      Map<RunId, Instant> created = InsertRuns.insert(tx, open);
      hasInserted |= !created.isEmpty();
      List<StartRun> conflicting = new ArrayList<>();
      for (StartRun start : withoutSignalled(withoutUnneeded(open, created), created)) {
        Instant at = created.get(start.runId());
        if (at == null) {
          conflicting.add(start);
        } else {
          answerStarted(start, at);
        }
      }
      open = conflicting.isEmpty() ? conflicting : answerConflicting(conflicting);
    }
    for (StartRun start : open) {
      resolveReservation(start, null);
      start.refuse(
          Refusal.of(
              Refusal.Reason.UNAVAILABLE,
              "run",
              start.runId().toString(),
              "external_id: %s (other runs with it start and end too fast; try again)"
                  .formatted(start.request().externalId())));
    }
    return hasInserted;
  }

  /** Answers starts that accept an ended run, if there is one; returns the other starts. */
  private List<StartRun> answerEnded(List<StartRun> starts) throws SQLException {
    List<StartRun> accepting = starts.stream().filter(RunStarts::acceptsEndedRun).toList();
    if (accepting.isEmpty()) {
      return starts;
    }
    Map<RunId, List<ConflictingRun>> ended = InsertRuns.ended(tx, accepting);
    List<StartRun> open = new ArrayList<>();
    for (StartRun start : starts) {
      List<ConflictingRun> found = ended.getOrDefault(start.runId(), List.of());
      if (found.isEmpty()) {
        open.add(start);
      } else {
        boolean own = found.get(0).runId().equals(start.runId());
        resolveReservation(start, null);
        start.answer(own ? StartResult.made(start.runId()) : existing(found.get(0)));
      }
    }
    return open;
  }

  /**
   * Deletes new runs that are not needed: a run with the same external id may have started and
   * ended between the first lookup and the insert. After the insert no other run can take the
   * external id, so this second lookup is reliable.
   */
  private List<StartRun> withoutUnneeded(List<StartRun> starts, Map<RunId, Instant> created)
      throws SQLException {
    List<StartRun> inserted =
        starts.stream()
            .filter(start -> acceptsEndedRun(start) && created.containsKey(start.runId()))
            .toList();
    if (inserted.isEmpty()) {
      return starts;
    }
    List<StartRun> unneeded = new ArrayList<>(inserted);
    unneeded.removeAll(answerEnded(inserted));
    if (unneeded.isEmpty()) {
      return starts;
    }
    InsertRuns.deleteInserted(tx, unneeded);
    List<StartRun> left = new ArrayList<>(starts);
    left.removeAll(unneeded);
    return left;
  }

  /**
   * Deletes new runs whose signal an earlier run with the external id has accepted: the call was
   * sent again after the end of that run. After the insert no other run can take the external id,
   * and the signals of runs that ended before are visible, so this lookup is reliable.
   */
  private List<StartRun> withoutSignalled(List<StartRun> starts, Map<RunId, Instant> created)
      throws SQLException {
    Map<SignalRow.Key, StartRun> inserted = new LinkedHashMap<>();
    List<SignalRows.Sent> calls = new ArrayList<>();
    for (StartRun start : starts) {
      SignalRequest signal = start.signal();
      if (signal != null && created.containsKey(start.runId())) {
        SignalRow.Key key = new SignalRow.Key(start.runId(), signal.signalId());
        inserted.put(key, start);
        calls.add(new SignalRows.Sent(key, startKey(start)));
      }
    }
    if (inserted.isEmpty()) {
      return starts;
    }
    List<StartRun> unneeded = new ArrayList<>();
    SignalRows.accepted(tx, calls)
        .forEach(
            (key, accepted) -> {
              StartRun start = inserted.get(key);
              if (start != null) {
                unneeded.add(start);
                resolveReservation(start, null);
                start.answer(StartResult.existing(accepted.runId(), accepted.workflowType()));
              }
            });
    if (unneeded.isEmpty()) {
      return starts;
    }
    InsertRuns.deleteInserted(tx, unneeded);
    List<StartRun> left = new ArrayList<>(starts);
    left.removeAll(unneeded);
    return left;
  }

  private static SignalRow.StartKey startKey(StartRun start) {
    return new SignalRow.StartKey(start.request().namespace(), start.request().externalId());
  }

  private static boolean acceptsEndedRun(StartRun start) {
    return start.request().options().ifExists() == IfExists.USE_EXISTING_ANY
        && !start.request().externalId().isEmpty();
  }

  private void answerStarted(StartRun start, Instant createdAt) {
    if (!start.request().input().isEmpty()) {
      batch.input(start.runId(), start.request().input());
    }
    SignalRequest signal = start.signal();
    if (signal != null) {
      batch.signals().add(start.runId(), null, signal, startKey(start));
      start.signalStored(true);
      batch.afterCommit(() -> events.signalSent(start.queue(), start.type()));
    }
    start.answer(StartResult.made(start.runId()));
    batch.afterCommit(() -> publishStart(start, createdAt, events));
  }

  static void publishStart(StartRun start, Instant createdAt, RunEvents events) {
    events.started(start.queue(), start.type(), start.runId());
    Long expiresMs = start.expiresMs(createdAt);
    if (expiresMs != null) {
      events.expires(expiresMs);
    }
    SlotReservation reservation = start.reservation();
    if (reservation == null) {
      events.runDue(start.queue(), start.type(), 0);
    } else {
      reservation.started(start, createdAt);
    }
  }

  private List<StartRun> answerConflicting(List<StartRun> conflicting) throws SQLException {
    Map<RunId, List<ConflictingRun>> conflicts = InsertRuns.conflicts(tx, conflicting);
    List<StartRun> open = new ArrayList<>();
    for (StartRun start : conflicting) {
      List<ConflictingRun> found = conflicts.getOrDefault(start.runId(), List.of());
      if (found.isEmpty()) {
        open.add(start);
      } else {
        answer(start, found);
      }
    }
    return open;
  }

  private void answer(StartRun start, List<ConflictingRun> conflicts) {
    for (ConflictingRun existing : conflicts) {
      if (existing.runId().equals(start.runId())) {
        answerSameId(start, existing);
        return;
      }
    }
    resolveReservation(start, null);
    ConflictingRun active = conflicts.get(0);
    if (start.request().options().ifExists() == IfExists.REJECT) {
      start.refuse(
          Refusal.of(
              Refusal.Code.ID_IN_USE,
              "run",
              active.runId().toString(),
              "external_id: %s is taken by the active run %s (expected: no active run with it)"
                  .formatted(Refusal.shorten(start.request().externalId()), active.runId())));
    } else {
      start.answer(existing(active));
    }
  }

  private static StartResult existing(ConflictingRun run) {
    return StartResult.existing(run.runId(), run.workflowType());
  }

  /** The run id exists already: from an earlier try of this start, or from another start. */
  private void answerSameId(StartRun start, ConflictingRun existing) {
    String externalId = Objects.requireNonNullElse(existing.externalId(), "");
    if (!existing.namespace().equals(start.request().namespace())) {
      resolveReservation(start, null);
      start.refuse(Refusal.invalid("run_id", start.runId(), "an id that is not in use"));
    } else if (!existing.workflowType().equals(start.request().workflowType())
        || !externalId.equals(start.request().externalId())) {
      resolveReservation(start, null);
      start.refuse(
          Refusal.of(
              Refusal.Code.RUN_ID_IN_USE,
              "run",
              start.runId().toString(),
              "run_id: "
                  + start.runId()
                  + " is taken by a run of type "
                  + Refusal.shorten(existing.workflowType())
                  + (externalId.isEmpty() ? "" : " with external_id " + Refusal.shorten(externalId))
                  + " (expected: a new id, or the same start again)"));
    } else {
      resolveReservation(start, existing);
      // An earlier send of this start has stored its signal, too.
      start.signalStored(start.isUncertain());
      start.answer(StartResult.made(start.runId()));
    }
  }

  /**
   * Uses or returns the reserved slot. The slot is used only if the run is claimed for its worker,
   * and only by the write that made this claim: a repeated start must not dispatch the claim again.
   * If the claim's lease has ended meanwhile, any worker may take the run.
   */
  private void resolveReservation(StartRun start, @Nullable ConflictingRun own) {
    SlotReservation reservation = start.reservation();
    if (reservation == null) {
      return;
    }
    if (own != null
        && start.isUncertain()
        && own.epoch() == start.claim().epoch()
        && own.leased()
        && own.status().equals(RunStatus.RUNNING.name())
        && reservation.worker().value().equals(own.lockedBy())) {
      Instant createdAt = own.createdAt();
      batch.afterCommit(() -> reservation.started(start, createdAt));
    } else {
      batch.afterCommit(reservation::notStarted);
    }
  }
}
