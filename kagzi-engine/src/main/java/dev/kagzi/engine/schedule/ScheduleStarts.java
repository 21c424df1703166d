package dev.kagzi.engine.schedule;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.request.IdempotentCall;
import dev.kagzi.engine.internal.request.IdempotentCalls;
import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.schedule.BatchCapacity;
import dev.kagzi.engine.internal.schedule.FireRuns;
import dev.kagzi.engine.internal.schedule.FireTimes;
import dev.kagzi.engine.internal.schedule.FiredRun;
import dev.kagzi.engine.internal.schedule.ScheduleRows;
import dev.kagzi.engine.internal.schedule.ScheduleTemplates;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Starts runs of schedules on request: now, or for past slots. Thread-safe; calls block. */
public final class ScheduleStarts {
  private static final long BACKFILL_MAX = 10_000;

  private final Database database;
  private final Namespaces namespaces;
  private final Limits limits;
  private final RunEvents events;

  public ScheduleStarts(Database database, Namespaces namespaces, Limits limits, RunEvents events) {
    this.database = database;
    this.namespaces = namespaces;
    this.limits = limits;
    this.events = events;
  }

  /**
   * Starts a run now, even if the schedule is paused or other runs are open. The run has no slot,
   * and counts as open for the overlap policy.
   *
   * @param newId chosen by the caller, who can then safely repeat the call; null for a new one
   */
  public RunId trigger(String namespace, RunId id, @Nullable RunId newId) {
    limits.checkName("namespace", namespace);
    // A repeated call gets its first answer even if the namespace has been disabled since.
    if (newId != null
        && !namespaces.check(namespace)
        && database.read(session -> FireRuns.isOf(session, newId, id, namespace))) {
      return newId;
    }
    namespaces.requireEnabled(namespace);
    RunId run = newId == null ? RunId.next(id.shard()) : newId;
    List<FiredRun> fired = new ArrayList<>();
    database.writeRepeatable(
        tx -> {
          // The run may exist already although its schedule was deleted.
          if (FireRuns.isOf(tx, run, id, namespace)) {
            return run;
          }
          ScheduleRows.require(tx, namespace, id);
          id.shard().require("run_id", run, "the schedule's id");
          List<FiredRun> made =
              started(tx, id, List.of(new FireRuns.Wanted(run, id, null, 0))).runs();
          if (made.isEmpty() && !FireRuns.isOf(tx, run, id, namespace)) {
            throw Refusal.invalid("run_id", run, "an id that is not in use");
          }
          fired.clear();
          fired.addAll(made);
          return run;
        });
    publish(fired);
    return run;
  }

  /**
   * The result of a back-fill.
   *
   * @param started slots that became runs
   * @param existed slots that already had a run
   * @param conflicts slots without a run because another active run has their external id
   */
  public record Backfilled(int started, int existed, int conflicts) {}

  /**
   * Creates runs for all slots from {@code from} up to but not including {@code before} that have
   * none, regardless of the overlap policy. A repeated call with the same request id creates no
   * further runs and returns the first result.
   */
  public Backfilled backfill(
      String namespace, RunId id, Instant from, Instant before, @Nullable UUID requestId) {
    limits.checkName("namespace", namespace);
    IdempotentCall call =
        IdempotentCall.of(requestId, "BackfillSchedule", namespace, id, from, before);
    // Before the schedule is read: it may have been changed or deleted since the first call.
    Progress progress = Progress.parse(IdempotentCalls.storedAnswer(database, call));
    if (progress.isDone()) {
      return progress.sum;
    }
    ScheduleView schedule =
        database
            .read(session -> ScheduleRows.find(session, namespace, id))
            .orElseThrow(() -> Refusal.notFound("schedule", id));
    namespaces.requireEnabled(namespace, () -> IdempotentCalls.isStored(database, call));
    Instant now = database.read(ScheduleRows::now);
    if (!from.isBefore(before) || from.isBefore(Instant.EPOCH)) {
      throw Refusal.invalid("from", from, Instant.EPOCH + " or later, and before " + before);
    }
    if (before.isAfter(now)) {
      throw Refusal.invalid("to", before, "not after " + now + ": a time that is over");
    }
    FireTimes slots = FireTimes.of(schedule.spec().cronExpr(), schedule.spec().timeZone());
    long after = FireTimes.ceilSecond(from) - 1;
    long last = FireTimes.ceilSecond(before) - 1;
    long count = slots.count(after, last);
    if (count > BACKFILL_MAX) {
      throw Refusal.invalid(
          "from, to", count + " slots", "at most " + BACKFILL_MAX + " in one call");
    }
    int batch = new BatchCapacity().runs(schedule.spec().input().bytes());
    long slot = slots.after(after);
    while (!progress.isDone()) {
      List<Long> batchSlots = new ArrayList<>();
      while (slot != FireTimes.NONE && slot <= last && batchSlots.size() < batch) {
        batchSlots.add(slot);
        slot = slots.after(slot);
      }
      boolean isLast = slot == FireTimes.NONE || slot > last;
      progress = backfill(call, namespace, id, batchSlots, isLast);
    }
    return progress.sum;
  }

  /**
   * The progress of a back-fill, which takes several transactions.
   *
   * @param last the last slot that it has processed
   */
  private record Progress(long last, Backfilled sum) {
    private static final long DONE = Long.MAX_VALUE;

    /** {@code stored} is null for a new call. */
    static Progress parse(@Nullable String stored) {
      if (stored == null) {
        return new Progress(Long.MIN_VALUE, new Backfilled(0, 0, 0));
      }
      String[] parts = stored.split(" ", -1);
      return new Progress(
          Long.parseLong(parts[0]),
          new Backfilled(
              Integer.parseInt(parts[1]), Integer.parseInt(parts[2]), Integer.parseInt(parts[3])));
    }

    /** Returns whether all slots were processed: the sum is final. */
    boolean isDone() {
      return last == DONE;
    }

    String text() {
      return last + " " + sum.started + " " + sum.existed + " " + sum.conflicts;
    }
  }

  /** Creates runs for the slots that no earlier batch of the call has processed. */
  private Progress backfill(
      IdempotentCall call, String namespace, RunId id, List<Long> slots, boolean isLast) {
    List<FiredRun> fired = new ArrayList<>();
    Progress progress =
        database.writeRepeatable(
            tx -> {
              fired.clear();
              Progress before = Progress.parse(IdempotentCalls.begin(tx, call));
              List<FireRuns.Wanted> wanted =
                  slots.stream()
                      .filter(slot -> slot > before.last)
                      .map(slot -> FireRuns.Wanted.ofCall(call.id(), id, slot))
                      .toList();
              if (before.isDone() || (wanted.isEmpty() && !isLast)) {
                return before;
              }
              ScheduleRows.require(tx, namespace, id);
              FireRuns.Inserted inserted = started(tx, id, wanted);
              fired.addAll(inserted.runs());
              int made = inserted.runs().size();
              int conflicts = inserted.conflicts().size();
              Progress now =
                  new Progress(
                      isLast ? Progress.DONE : slots.getLast(),
                      new Backfilled(
                          before.sum.started + made,
                          before.sum.existed + wanted.size() - made - conflicts,
                          before.sum.conflicts + conflicts));
              IdempotentCalls.storeAnswer(tx, call, now.text());
              return now;
            });
    publish(fired);
    return progress;
  }

  private static FireRuns.Inserted started(Session tx, RunId id, List<FireRuns.Wanted> wanted)
      throws SQLException {
    FireRuns.Inserted inserted = FireRuns.insert(tx, wanted);
    if (!inserted.runs().isEmpty()) {
      ScheduleTemplates.started(tx, id, inserted.runs().size());
    }
    return inserted;
  }

  private void publish(List<FiredRun> fired) {
    FiredRun.publish(fired, events);
    events.committed();
  }
}
