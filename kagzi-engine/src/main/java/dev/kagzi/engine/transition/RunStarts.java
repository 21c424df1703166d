package dev.kagzi.engine.transition;

import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.run.IfExists;
import dev.kagzi.engine.run.InsertRuns;
import dev.kagzi.engine.run.InsertRuns.Rival;
import dev.kagzi.engine.run.RunEvents;
import dev.kagzi.engine.run.SlotReservation;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.run.StartRun;
import dev.kagzi.engine.value.Origin;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The starts of one batch: inserted if nothing stands in their way, else answered with what does.
 */
final class RunStarts {
  private static final Logger log = LoggerFactory.getLogger(RunStarts.class);
  private static final int ROUNDS_MAX = 5;

  private final Session tx;
  private final RunBatch batch;
  private final RunEvents events;

  RunStarts(Session tx, RunBatch batch, RunEvents events) {
    this.tx = tx;
    this.batch = batch;
    this.events = events;
  }

  void insert(List<StartRun> starts) throws SQLException {
    // Two starts with one run id in one batch are one call that was sent twice.
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
    insertRounds(withParents(new ArrayList<>(firsts.values())));
    if (!repeats.isEmpty()) {
      insertRounds(repeats);
    }
    if (!refused.isEmpty()) {
      answerRefused(refused);
    }
  }

  /** Answers a start that the namespace refuses with its run if the start was accepted before. */
  private void answerRefused(List<StartRun> starts) throws SQLException {
    Map<RunId, List<Rival>> rivals = InsertRuns.rivals(tx, starts);
    for (StartRun start : starts) {
      boolean made =
          rivals.getOrDefault(start.runId(), List.of()).stream()
              .anyMatch(rival -> rival.runId().equals(start.runId()) && isSame(start, rival));
      if (made) {
        start.answer(StartResult.made(start.runId()));
      } else {
        start.refuse(Objects.requireNonNull(start.refusal()));
      }
    }
  }

  private static boolean isSame(StartRun start, Rival rival) {
    StartRequest request = start.request();
    return rival.namespace().equals(request.namespace())
        && rival.workflowType().equals(request.workflowType())
        && Objects.requireNonNullElse(rival.externalId(), "").equals(request.externalId());
  }

  /** A parent that is not there makes a lineage that nobody can follow. */
  private List<StartRun> withParents(List<StartRun> starts) throws SQLException {
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
        give(start, null);
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

  /** A rival may end between the insert and the look: then the insert is due again. */
  private void insertRounds(List<StartRun> starts) throws SQLException {
    List<StartRun> open = answerEnded(starts);
    for (int round = 0; round < ROUNDS_MAX && !open.isEmpty(); round++) {
      Map<RunId, Instant> created = InsertRuns.insert(tx, open);
      List<StartRun> hindered = new ArrayList<>();
      for (StartRun start : withoutSuperfluous(open, created)) {
        Instant at = created.get(start.runId());
        if (at == null) {
          hindered.add(start);
        } else {
          started(start, at);
        }
      }
      open = hindered.isEmpty() ? hindered : answerHindered(hindered);
    }
    for (StartRun start : open) {
      give(start, null);
      start.refuse(
          Refusal.of(
              Refusal.Reason.UNAVAILABLE,
              "run",
              start.runId().toString(),
              "external_id "
                  + start.request().externalId()
                  + " changes hands too fast; try again"));
    }
  }

  /** Starts that are content with a run that has ended are answered with it; the rest are left. */
  private List<StartRun> answerEnded(List<StartRun> starts) throws SQLException {
    List<StartRun> content = starts.stream().filter(RunStarts::takesEnded).toList();
    if (content.isEmpty()) {
      return starts;
    }
    Map<RunId, List<Rival>> ended = InsertRuns.ended(tx, content);
    List<StartRun> open = new ArrayList<>();
    for (StartRun start : starts) {
      List<Rival> found = ended.getOrDefault(start.runId(), List.of());
      if (found.isEmpty()) {
        open.add(start);
      } else {
        boolean own = found.get(0).runId().equals(start.runId());
        give(start, null);
        start.answer(own ? StartResult.made(start.runId()) : StartResult.existing(found.get(0)));
      }
    }
    return open;
  }

  /**
   * A run with the same external id may have come and gone between the first look and the insert.
   * Now that the place is taken nobody else can start one: what this look finds is all there is.
   */
  private List<StartRun> withoutSuperfluous(List<StartRun> starts, Map<RunId, Instant> created)
      throws SQLException {
    List<StartRun> inserted =
        starts.stream()
            .filter(start -> takesEnded(start) && created.containsKey(start.runId()))
            .toList();
    if (inserted.isEmpty()) {
      return starts;
    }
    List<StartRun> superfluous = new ArrayList<>(inserted);
    superfluous.removeAll(answerEnded(inserted));
    if (superfluous.isEmpty()) {
      return starts;
    }
    InsertRuns.takeBack(tx, superfluous);
    List<StartRun> left = new ArrayList<>(starts);
    left.removeAll(superfluous);
    return left;
  }

  private static boolean takesEnded(StartRun start) {
    return start.request().options().ifExists() == IfExists.USE_EXISTING_ANY
        && !start.request().externalId().isEmpty();
  }

  private void started(StartRun start, Instant createdAt) {
    if (!start.request().input().isEmpty()) {
      batch.input(start.runId(), start.request().input());
    }
    start.answer(StartResult.made(start.runId()));
    batch.then(() -> tell(start, createdAt, events));
  }

  /** Tells of a run that has started. */
  static void tell(StartRun start, Instant createdAt, RunEvents events) {
    events.started(start.request().namespace(), start.runId());
    Long expiresMs = start.expiresMs(createdAt);
    if (expiresMs != null) {
      events.expires(expiresMs);
    }
    SlotReservation handover = start.handover();
    if (handover == null) {
      events.due(start.queue(), start.type(), 0);
    } else {
      handover.started(start, createdAt);
    }
  }

  private List<StartRun> answerHindered(List<StartRun> hindered) throws SQLException {
    Map<RunId, List<Rival>> rivals = InsertRuns.rivals(tx, hindered);
    List<StartRun> open = new ArrayList<>();
    for (StartRun start : hindered) {
      List<Rival> found = rivals.getOrDefault(start.runId(), List.of());
      if (found.isEmpty()) {
        open.add(start);
      } else {
        answer(start, found);
      }
    }
    return open;
  }

  private void answer(StartRun start, List<Rival> rivals) {
    for (Rival rival : rivals) {
      if (rival.runId().equals(start.runId())) {
        answerSameId(start, rival);
        return;
      }
    }
    give(start, null);
    Rival active = rivals.get(0);
    if (start.lineage().origin() == Origin.FAILURE_HANDLER) {
      log.atWarn()
          .addKeyValue("run", start.lineage().failedRun())
          .addKeyValue("external_id", start.request().externalId())
          .log("a failure handler was not started: another run that is active has its external id");
    }
    if (start.request().options().ifExists() == IfExists.REJECT) {
      start.refuse(
          Refusal.of(
              Refusal.Code.ID_IN_USE,
              "run",
              active.runId().toString(),
              "external_id: "
                  + Refusal.shorten(start.request().externalId())
                  + " is taken by the active run "
                  + active.runId()
                  + " (expected: no active run with it)"));
    } else {
      start.answer(StartResult.existing(active));
    }
  }

  /** The id is taken: by this very start, sent before, or by a stranger. */
  private void answerSameId(StartRun start, Rival rival) {
    String externalId = Objects.requireNonNullElse(rival.externalId(), "");
    if (!rival.namespace().equals(start.request().namespace())) {
      give(start, null);
      start.refuse(Refusal.invalid("run_id", start.runId(), "an id that is not in use"));
    } else if (!rival.workflowType().equals(start.request().workflowType())
        || !externalId.equals(start.request().externalId())) {
      give(start, null);
      start.refuse(
          Refusal.of(
              Refusal.Code.RUN_ID_IN_USE,
              "run",
              start.runId().toString(),
              "run_id: "
                  + start.runId()
                  + " is taken by a run of type "
                  + Refusal.shorten(rival.workflowType())
                  + (externalId.isEmpty() ? "" : " with external_id " + Refusal.shorten(externalId))
                  + " (expected: a new id, or the same start again)"));
    } else {
      give(start, rival);
      start.answer(StartResult.made(start.runId()));
    }
  }

  /**
   * The slot that was kept for the run is used only if the run is the worker's indeed, and only by
   * the very write that claimed it for the worker: a caller who starts the run again must not hand
   * the same claim out a second time.
   */
  private void give(StartRun start, @Nullable Rival own) {
    SlotReservation handover = start.handover();
    if (handover == null) {
      return;
    }
    if (own != null
        && start.isUncertain()
        && own.epoch() == 1
        && own.status().equals(RunStatus.RUNNING.name())
        && handover.worker().value().equals(own.lockedBy())) {
      Instant createdAt = own.createdAt();
      batch.then(() -> handover.started(start, createdAt));
    } else {
      batch.then(handover::notStarted);
    }
  }
}
