package dev.kagzi.engine.schedule;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
import dev.kagzi.engine.page.Pager;
import dev.kagzi.engine.request.IdempotentCall;
import dev.kagzi.engine.request.IdempotentCalls;
import dev.kagzi.engine.run.FailureHandler;
import dev.kagzi.engine.run.LargePayloads;
import dev.kagzi.engine.run.RunEvents;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.Shard;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Creates, changes and lists schedules, and starts their runs on request. Thread-safe; calls block.
 * A change locks the schedule from its read to its write, so that it cannot undo a concurrent fire.
 * An id of a run, or of another namespace, is reported as unknown.
 */
public final class Schedules {
  private static final int PREVIEW_DEFAULT = 5;
  private static final int PREVIEW_MAX = 1_000;
  private static final int MAX_CATCHUP_MAX = 1_000_000;
  private static final long BACKFILL_MAX = 10_000;
  private static final long JITTER_MS_MAX = Duration.ofDays(7).toMillis();
  private static final long TIME_MS_MAX = Duration.ofDays(100L * 366).toMillis();
  private static final Instant LATEST = Instant.parse("2200-01-01T00:00:00Z");

  private final Database database;
  private final Namespaces namespaces;
  private final Limits limits;
  private final LargePayloads large;
  private final RunEvents events;
  private final LongConsumer dueInMs;

  /**
   * @param dueInMs called with the milliseconds until a changed schedule is due
   */
  public Schedules(
      Database database,
      Namespaces namespaces,
      Limits limits,
      LargePayloads large,
      RunEvents events,
      LongConsumer dueInMs) {
    this.database = database;
    this.namespaces = namespaces;
    this.limits = limits;
    this.large = large;
    this.events = events;
    this.dueInMs = dueInMs;
  }

  /**
   * A request to create a schedule.
   *
   * @param id chosen by the caller, who can then safely repeat the call; null for a new one
   * @param enabled whether it fires; null: a new one does, and an existing one keeps its state
   * @param orUpdate updates an existing schedule with the same name
   * @param requestId chosen by the caller, who can then safely repeat the call; null for none
   */
  public record Creation(
      String namespace,
      ScheduleSpec spec,
      @Nullable RunId id,
      @Nullable Boolean enabled,
      boolean orUpdate,
      @Nullable UUID requestId) {

    /** Creates a request without a request id. */
    public Creation(
        String namespace,
        ScheduleSpec spec,
        @Nullable RunId id,
        @Nullable Boolean enabled,
        boolean orUpdate) {
      this(namespace, spec, id, enabled, orUpdate, null);
    }

    /** A request for a new schedule that fires. */
    public static Creation of(String namespace, ScheduleSpec spec) {
      return new Creation(namespace, spec, null, null, false, null);
    }

    /** Returns whether the schedule has the content of this request. */
    private boolean isOf(ScheduleView view) {
      return view.spec().equals(spec) && (enabled == null || enabled == view.enabled());
    }
  }

  /**
   * Creates a schedule. Refused with ALREADY_EXISTS if the name exists with other content and
   * {@code orUpdate} is false.
   */
  public ScheduleView create(Creation creation) {
    ScheduleSpec spec = creation.spec;
    String namespace = creation.namespace;
    FailureHandler.refuse("workflow_type", spec.workflowType());
    FailureHandler.refuse("on_failure_workflow", spec.onFailureWorkflow());
    check(namespace, spec);
    FireTimes slots = FireTimes.of(spec.cronExpr(), spec.timeZone());
    IdempotentCall call =
        IdempotentCall.of(creation.requestId, "CreateWorkflowSchedule", namespace, spec.name());
    requireEnabled(namespace, call);
    RunId id = scheduleId(creation);
    boolean enabled = !Boolean.FALSE.equals(creation.enabled);
    return notifyDue(
        once(
            call,
            namespace,
            tx -> {
              Instant now = ScheduleRows.now(tx);
              long next = nextFire(spec, slots, now);
              boolean made =
                  ScheduleRows.insert(
                      tx, new ScheduleRows.Written(id, namespace, spec, enabled, next));
              if (made) {
                return new Changed(now, ScheduleRows.find(tx, namespace, id).orElseThrow());
              }
              return existing(tx, creation, id);
            }));
  }

  private static RunId scheduleId(Creation creation) {
    if (creation.spec.name().isEmpty()) {
      return creation.id == null ? RunId.next() : creation.id;
    }
    Shard shard = Shard.of(creation.namespace, creation.spec.name());
    if (creation.id == null) {
      return RunId.next(shard);
    }
    shard.require("schedule_id", creation.id, "namespace and name");
    return creation.id;
  }

  /** A repeated call gets its first answer even if the namespace has been disabled since. */
  private void requireEnabled(String namespace, IdempotentCall call) {
    try {
      namespaces.requireEnabled(namespace);
    } catch (Refusal why) {
      if (why.code() != Refusal.Code.NAMESPACE_DISABLED
          || !IdempotentCalls.isStored(database, call)) {
        throw why;
      }
    }
  }

  /** A repeated call changes nothing and returns the current schedule. */
  private Changed once(IdempotentCall call, String namespace, Session.Work<Changed> effect) {
    return IdempotentCalls.once(
        database,
        call,
        effect,
        changed -> changed.view.id().toString(),
        (tx, stored) -> {
          RunId id = RunId.parse(stored).orElseThrow();
          return new Changed(
              ScheduleRows.now(tx),
              ScheduleRows.find(tx, namespace, id)
                  .orElseThrow(() -> Refusal.notFound("schedule", id)));
        });
  }

  private Changed existing(Session tx, Creation creation, RunId id) throws SQLException {
    Optional<ScheduleView> own = ScheduleRows.find(tx, creation.namespace, id);
    if (own.isPresent() && own.get().spec().name().equals(creation.spec.name())) {
      return creation.orUpdate
          ? update(tx, creation.namespace, id, ScheduleUpdate.to(creation.spec, creation.enabled))
          : new Changed(ScheduleRows.now(tx), own.get());
    }
    String name = creation.spec.name();
    Optional<ScheduleView> named =
        name.isEmpty() ? Optional.empty() : ScheduleRows.byName(tx, creation.namespace, name);
    if (named.isEmpty()) {
      throw Refusal.invalid("schedule_id", id, "an id that is not in use");
    }
    if (!creation.orUpdate && creation.isOf(named.get())) {
      return new Changed(ScheduleRows.now(tx), named.get());
    }
    if (!creation.orUpdate) {
      throw Refusal.of(
          Refusal.Reason.ALREADY_EXISTS,
          "schedule",
          named.get().id().toString(),
          "name: "
              + Refusal.shorten(name)
              + " is taken by the schedule "
              + named.get().id()
              + " (expected: a name that is not taken; create-or-update changes the one that is"
              + " there)");
    }
    return update(
        tx,
        creation.namespace,
        named.get().id(),
        ScheduleUpdate.to(creation.spec, creation.enabled));
  }

  /** Returns a schedule with its whole input. */
  public ScheduleView get(String namespace, RunId id) {
    limits.checkName("namespace", namespace);
    return database
        .read(session -> ScheduleRows.find(session, namespace, id))
        .orElseThrow(() -> Refusal.notFound("schedule", id));
  }

  public ScheduleView byName(String namespace, String name) {
    limits.checkName("namespace", namespace);
    limits.checkName("name", name);
    return database
        .read(session -> ScheduleRows.byName(session, namespace, name))
        .orElseThrow(() -> Refusal.notFound("schedule", name));
  }

  /**
   * Lists schedules, newest first, including paused ones.
   *
   * @param taskQueue only schedules of this queue; null for all
   * @param workflowType only schedules of this type; null for all
   * @param enabled true: only those that fire, false: only paused ones; null for all
   */
  public Page<ScheduleView> list(
      String namespace,
      @Nullable String taskQueue,
      @Nullable String workflowType,
      @Nullable Boolean enabled,
      PageSpec page) {
    limits.checkName("namespace", namespace);
    limits.checkOptionalName("task_queue", taskQueue);
    limits.checkOptionalName("workflow_type", workflowType);
    ScheduleRows.Filter filter =
        new ScheduleRows.Filter(namespace, taskQueue, workflowType, enabled);
    return database.readForUser(
        session ->
            Pager.page(
                page,
                "schedules " + filter,
                new ScheduleRows.Listed(session, filter, page.payloads())));
  }

  /** Changes the fields that the update sets. A resumed schedule catches up from its last slot. */
  public ScheduleView update(
      String namespace, RunId id, ScheduleUpdate update, @Nullable UUID requestId) {
    return update(
        IdempotentCall.of(requestId, "UpdateWorkflowSchedule", namespace, id),
        namespace,
        id,
        update);
  }

  /** Does the same without a request id. */
  public ScheduleView update(String namespace, RunId id, ScheduleUpdate update) {
    return update(namespace, id, update, null);
  }

  private ScheduleView update(
      IdempotentCall call, String namespace, RunId id, ScheduleUpdate update) {
    limits.checkName("namespace", namespace);
    FailureHandler.refuse("workflow_type", update.workflowType());
    FailureHandler.refuse("on_failure_workflow", update.onFailureWorkflow());
    return notifyDue(once(call, namespace, tx -> update(tx, namespace, id, update)));
  }

  private Changed update(Session tx, String namespace, RunId id, ScheduleUpdate update)
      throws SQLException {
    ScheduleView before = locked(tx, namespace, id);
    ScheduleSpec spec = before.spec().with(update);
    check(namespace, spec);
    FireTimes slots = FireTimes.of(spec.cronExpr(), spec.timeZone());
    Instant now = ScheduleRows.now(tx);
    boolean enabled = update.enabled() == null ? before.enabled() : update.enabled();
    if (!spec.name().isEmpty() && !spec.name().equals(before.spec().name())) {
      checkFree(tx, namespace, spec.name());
    }
    long next = nextFire(before, spec, slots, update.nextFireAt(), now);
    ScheduleRows.Written written = new ScheduleRows.Written(id, namespace, spec, enabled, next);
    ScheduleRows.update(tx, written);
    if (!spec.input().equals(before.spec().input())) {
      ScheduleRows.updateInput(tx, written);
    }
    return new Changed(now, ScheduleRows.find(tx, namespace, id).orElseThrow());
  }

  /** Locks the schedule: it cannot fire or be changed until the end of the transaction. */
  private static ScheduleView locked(Session tx, String namespace, RunId id) throws SQLException {
    return ScheduleRows.lock(tx, namespace, id).orElseThrow(() -> Refusal.notFound("schedule", id));
  }

  private static void checkFree(Session tx, String namespace, String name) throws SQLException {
    Optional<ScheduleView> other = ScheduleRows.byName(tx, namespace, name);
    if (other.isPresent()) {
      throw Refusal.of(
          Refusal.Reason.ALREADY_EXISTS,
          "schedule",
          other.get().id().toString(),
          "name: " + Refusal.shorten(name) + " is taken (expected: a name that is not)");
    }
  }

  private static long nextFire(
      ScheduleView before,
      ScheduleSpec spec,
      FireTimes slots,
      @Nullable Instant wanted,
      Instant now) {
    if (wanted != null) {
      if (wanted.isBefore(Instant.EPOCH) || wanted.isAfter(LATEST)) {
        throw Refusal.invalid("next_fire_at", wanted, Instant.EPOCH + " to " + LATEST);
      }
      return ceilSecond(wanted);
    }
    boolean same =
        spec.cronExpr().equals(before.spec().cronExpr())
            && spec.timeZone().equals(before.spec().timeZone());
    Instant next = before.nextFireAt();
    if (!same) {
      long due = before.enabled() && next != null ? next.getEpochSecond() - 1 : Long.MAX_VALUE;
      return nextFire(spec, slots, now, due);
    }
    return next == null ? FireTimes.NONE : next.getEpochSecond();
  }

  private static long nextFire(ScheduleSpec spec, FireTimes slots, Instant now) {
    return nextFire(spec, slots, now, Long.MAX_VALUE);
  }

  /** An undecided slot that is due just now fires if the new expression matches it too. */
  private static long nextFire(ScheduleSpec spec, FireTimes slots, Instant now, long decided) {
    long second = now.getEpochSecond();
    long next = slots.after(Math.min(second, Math.max(decided, second - OnTime.SECONDS - 1)));
    if (next == FireTimes.NONE) {
      throw Refusal.invalid(
          "cron_expr", "\"" + spec.cronExpr() + "\" never fires again", "a time after " + now);
    }
    return next;
  }

  public ScheduleView pause(String namespace, RunId id) {
    return pause(namespace, id, null);
  }

  /** Does the same; a repeat with the same request id is executed once. */
  public ScheduleView pause(String namespace, RunId id, @Nullable UUID requestId) {
    IdempotentCall call = IdempotentCall.of(requestId, "PauseWorkflowSchedule", namespace, id);
    return update(call, namespace, id, ScheduleUpdate.enabled(false));
  }

  public ScheduleView resume(String namespace, RunId id) {
    return resume(namespace, id, null);
  }

  /** Does the same; a repeat with the same request id is executed once. */
  public ScheduleView resume(String namespace, RunId id, @Nullable UUID requestId) {
    IdempotentCall call = IdempotentCall.of(requestId, "ResumeWorkflowSchedule", namespace, id);
    return update(call, namespace, id, ScheduleUpdate.enabled(true));
  }

  /**
   * Deletes a schedule. Its runs stay and keep their schedule id; a buffered slot is dropped.
   * Returns false if it does not exist.
   */
  public boolean delete(String namespace, RunId id) {
    return delete(namespace, id, null);
  }

  /** Does the same; a repeat with the same request id is executed once. */
  public boolean delete(String namespace, RunId id, @Nullable UUID requestId) {
    limits.checkName("namespace", namespace);
    return IdempotentCalls.once(
        database,
        IdempotentCall.of(requestId, "DeleteWorkflowSchedule", namespace, id),
        tx -> ScheduleRows.lock(tx, namespace, id).isPresent() && ScheduleRows.delete(tx, id),
        deleted -> Boolean.toString(deleted),
        (tx, deleted) -> Boolean.parseBoolean(deleted));
  }

  /**
   * Starts a run now, even if the schedule is paused or other runs are open. The run has no slot,
   * and counts as open for the overlap policy.
   *
   * @param newId chosen by the caller, who can then safely repeat the call; null for a new one
   */
  public RunId trigger(String namespace, RunId id, @Nullable RunId newId) {
    limits.checkName("namespace", namespace);
    if (newId == null) {
      namespaces.requireEnabled(namespace);
    } else if (wasTriggered(namespace, id, newId)) {
      return newId;
    }
    RunId run = newId == null ? RunId.next(id.shard()) : newId;
    List<FiredRun> fired = new ArrayList<>();
    database.writeRepeatable(
        tx -> {
          // The run may exist already although its schedule was deleted.
          if (FireRuns.isOf(tx, run, id, namespace)) {
            return run;
          }
          locked(tx, namespace, id);
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

  /** A repeated call gets its first answer even if the namespace has been disabled since. */
  private boolean wasTriggered(String namespace, RunId id, RunId run) {
    try {
      namespaces.requireEnabled(namespace);
      return false;
    } catch (Refusal why) {
      if (why.code() == Refusal.Code.NAMESPACE_DISABLED
          && database.read(session -> FireRuns.isOf(session, run, id, namespace))) {
        return true;
      }
      throw why;
    }
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
   * none, regardless of the overlap policy.
   */
  public Backfilled backfill(String namespace, RunId id, Instant from, Instant before) {
    return backfill(namespace, id, from, before, null);
  }

  /**
   * Does the same; a repeat with the same request id creates no further runs and gets the same
   * answer.
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
    ScheduleView schedule = get(namespace, id);
    requireEnabled(namespace, call);
    Instant now = database.read(ScheduleRows::now);
    if (!from.isBefore(before) || from.isBefore(Instant.EPOCH)) {
      throw Refusal.invalid("from", from, Instant.EPOCH + " or later, and before " + before);
    }
    if (before.isAfter(now)) {
      throw Refusal.invalid("to", before, "not after " + now + ": a time that is over");
    }
    FireTimes slots = FireTimes.of(schedule.spec().cronExpr(), schedule.spec().timeZone());
    long after = ceilSecond(from) - 1;
    long last = ceilSecond(before) - 1;
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

    /** Returns whether all slots were processed: then the sum is the answer, also for repeats. */
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
                      .map(slot -> new FireRuns.Wanted(RunId.next(id.shard()), id, slot, 0))
                      .toList();
              if (before.isDone() || (wanted.isEmpty() && !isLast)) {
                return before;
              }
              locked(tx, namespace, id);
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

  private static long ceilSecond(Instant time) {
    return time.getEpochSecond() + (time.getNano() > 0 ? 1 : 0);
  }

  private static FireRuns.Inserted started(Session tx, RunId id, List<FireRuns.Wanted> wanted)
      throws SQLException {
    FireRuns.Inserted inserted = FireRuns.insert(tx, wanted);
    if (!inserted.runs().isEmpty()) {
      ScheduleTemplates.started(tx, id, inserted.runs().size());
    }
    return inserted;
  }

  /**
   * Returns the next times at which an expression fires; it need not belong to a schedule.
   *
   * @param count number of times; 0 for a few
   * @param after null for now
   */
  public List<Instant> preview(
      String cronExpr, String timeZone, int count, @Nullable Instant after) {
    if (count < 0 || count > PREVIEW_MAX) {
      throw Refusal.invalid("count", count, "1 to " + PREVIEW_MAX + ", or 0 for a few");
    }
    FireTimes slots = FireTimes.of(cronExpr, timeZone);
    Instant from = Objects.requireNonNullElseGet(after, () -> database.read(ScheduleRows::now));
    List<Instant> times = new ArrayList<>();
    long slot = slots.after(from.getEpochSecond());
    while (slot != FireTimes.NONE && times.size() < (count == 0 ? PREVIEW_DEFAULT : count)) {
      times.add(Instant.ofEpochSecond(slot));
      slot = slots.after(slot);
    }
    if (times.isEmpty()) {
      throw Refusal.invalid(
          "cron_expr", "\"" + cronExpr + "\" never fires again", "a time after " + from);
    }
    return times;
  }

  private void check(String namespace, ScheduleSpec spec) {
    limits.checkName("namespace", namespace);
    limits.checkOptionalName("name", spec.name());
    limits.checkName("task_queue", spec.taskQueue());
    limits.checkName("workflow_type", spec.workflowType());
    limits.checkOptionalName("version", spec.version());
    limits.checkPayload("input", spec.input());
    checkRange("max_catchup", spec.maxCatchup(), 0, MAX_CATCHUP_MAX, "");
    checkRange("jitter_ms", spec.jitterMs(), 0, JITTER_MS_MAX, " ms");
    checkTime("execution_timeout_ms", spec.executionTimeoutMs());
    checkTime("step_timeout_ms", spec.stepTimeoutMs());
    limits.checkOptionalName("on_failure_workflow", spec.onFailureWorkflow());
    limits.checkOptionalName("on_failure_task_queue", spec.onFailureTaskQueue());
    if (spec.onFailureWorkflow().isEmpty() && !spec.onFailureTaskQueue().isEmpty()) {
      throw Refusal.invalid(
          "on_failure_task_queue",
          spec.onFailureTaskQueue() + " without on_failure_workflow",
          "both, or none");
    }
    large.warn(spec.workflowType(), "input of a schedule", spec.input());
  }

  private static void checkTime(String field, @Nullable Long millis) {
    if (millis != null) {
      checkRange(field, millis, 1, TIME_MS_MAX, " ms");
    }
  }

  private static void checkRange(String field, long value, long min, long max, String unit) {
    if (value < min || value > max) {
      throw Refusal.invalid(field, value + unit, min + " to " + max + unit);
    }
  }

  private record Changed(Instant now, ScheduleView view) {}

  /** Schedules the next tick of this server; other servers read it with their heartbeats. */
  private ScheduleView notifyDue(Changed changed) {
    Instant next = changed.view.nextFireAt();
    if (changed.view.enabled() && next != null) {
      dueInMs.accept(Math.max(0, Duration.between(changed.now, next).toMillis() + 1));
    }
    return changed.view;
  }

  private void publish(List<FiredRun> fired) {
    FiredRun.publish(fired, events);
    events.committed();
  }
}
