package dev.kagzi.engine.schedule;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.page.Pager;
import dev.kagzi.engine.internal.request.IdempotentCall;
import dev.kagzi.engine.internal.request.IdempotentCalls;
import dev.kagzi.engine.internal.run.FailureHandler;
import dev.kagzi.engine.internal.run.LargePayloads;
import dev.kagzi.engine.internal.schedule.FireTimes;
import dev.kagzi.engine.internal.schedule.ScheduleChecks;
import dev.kagzi.engine.internal.schedule.ScheduleRows;
import dev.kagzi.engine.namespace.Namespaces;
import dev.kagzi.engine.page.Page;
import dev.kagzi.engine.page.PageSpec;
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
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Creates, changes and lists schedules. Thread-safe; calls block. A change locks the schedule from
 * its read to its write, so that it cannot undo a concurrent fire. The id of a run, or of a
 * schedule in another namespace, is refused with NOT_FOUND.
 */
public final class Schedules {
  private static final int PREVIEW_DEFAULT = 5;
  private static final int PREVIEW_MAX = 1_000;

  private final Database database;
  private final Namespaces namespaces;
  private final Limits limits;
  private final ScheduleChecks checks;
  private final LongConsumer dueInMs;

  /**
   * @param dueInMs called with the milliseconds until a changed schedule is due
   */
  public Schedules(
      Database database,
      Namespaces namespaces,
      Limits limits,
      LargePayloads large,
      LongConsumer dueInMs) {
    this.database = database;
    this.namespaces = namespaces;
    this.limits = limits;
    this.checks = new ScheduleChecks(limits, large);
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

    private boolean isOf(ScheduleView view) {
      return view.spec().equals(spec) && (enabled == null || enabled == view.enabled());
    }
  }

  /**
   * Creates a schedule. Refused with ALREADY_EXISTS if another schedule has the name, its content
   * differs, and {@code orUpdate} is false.
   */
  public ScheduleView create(Creation creation) {
    ScheduleSpec spec = creation.spec;
    String namespace = creation.namespace;
    FailureHandler.refuse("workflow_type", spec.workflowType());
    FailureHandler.refuse("on_failure_workflow", spec.onFailureWorkflow());
    checks.check(namespace, spec);
    FireTimes slots = FireTimes.of(spec.cronExpr(), spec.timeZone());
    IdempotentCall call =
        IdempotentCall.of(creation.requestId, "CreateWorkflowSchedule", namespace, spec.name());
    namespaces.requireEnabled(namespace, () -> IdempotentCalls.isStored(database, call));
    RunId id = scheduleId(creation);
    boolean enabled = !Boolean.FALSE.equals(creation.enabled);
    return notifyDue(
        once(
            call,
            namespace,
            tx -> {
              Instant now = ScheduleRows.now(tx);
              long next = ScheduleChecks.nextFire(spec, slots, now, Long.MAX_VALUE);
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
          ? replace(tx, creation, id)
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
    return replace(tx, creation, named.get().id());
  }

  private Changed replace(Session tx, Creation creation, RunId id) throws SQLException {
    return update(tx, creation.namespace, id, before -> creation.spec, creation.enabled, null);
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

  /**
   * Changes the fields that the update sets. A schedule that is enabled again catches up on slots
   * that passed while it was paused.
   */
  public ScheduleView update(
      String namespace, RunId id, ScheduleUpdate update, @Nullable UUID requestId) {
    limits.checkName("namespace", namespace);
    FailureHandler.refuse("workflow_type", update.workflowType());
    FailureHandler.refuse("on_failure_workflow", update.onFailureWorkflow());
    return notifyDue(
        once(
            IdempotentCall.of(requestId, "UpdateWorkflowSchedule", namespace, id),
            namespace,
            tx ->
                update(
                    tx,
                    namespace,
                    id,
                    before -> before.with(update),
                    update.enabled(),
                    update.nextFireAt())));
  }

  private Changed update(
      Session tx,
      String namespace,
      RunId id,
      UnaryOperator<ScheduleSpec> change,
      @Nullable Boolean wantedEnabled,
      @Nullable Instant nextFireAt)
      throws SQLException {
    ScheduleView before = ScheduleRows.require(tx, namespace, id);
    ScheduleSpec spec = change.apply(before.spec());
    checks.check(namespace, spec);
    FireTimes slots = FireTimes.of(spec.cronExpr(), spec.timeZone());
    Instant now = ScheduleRows.now(tx);
    boolean enabled = wantedEnabled == null ? before.enabled() : wantedEnabled;
    if (!spec.name().isEmpty() && !spec.name().equals(before.spec().name())) {
      checkFree(tx, namespace, spec.name());
    }
    long next = ScheduleChecks.nextFire(before, spec, slots, nextFireAt, now);
    ScheduleRows.Written written = new ScheduleRows.Written(id, namespace, spec, enabled, next);
    ScheduleRows.update(tx, written);
    if (!spec.input().equals(before.spec().input())) {
      ScheduleRows.updateInput(tx, written);
    }
    return new Changed(now, ScheduleRows.find(tx, namespace, id).orElseThrow());
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

  /** Resumes or pauses a schedule. A repeated call with the same request id changes nothing. */
  public ScheduleView setEnabled(
      String namespace, RunId id, boolean enabled, @Nullable UUID requestId) {
    String method = enabled ? "ResumeWorkflowSchedule" : "PauseWorkflowSchedule";
    limits.checkName("namespace", namespace);
    return notifyDue(
        once(
            IdempotentCall.of(requestId, method, namespace, id),
            namespace,
            tx -> update(tx, namespace, id, UnaryOperator.identity(), enabled, null)));
  }

  /**
   * Deletes a schedule. Its runs stay and keep their schedule id; a buffered slot is dropped.
   * Returns false if it does not exist. A repeated call with the same request id changes nothing
   * and returns the first result.
   */
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
   * Returns the next times at which an expression fires; it need not belong to a schedule.
   *
   * @param count number of times; 0 for the default
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

  private record Changed(Instant now, ScheduleView view) {}

  /**
   * Sets the schedule timer of this server. Other servers read the due time with their heartbeats.
   */
  private ScheduleView notifyDue(Changed changed) {
    Instant next = changed.view.nextFireAt();
    if (changed.view.enabled() && next != null) {
      dueInMs.accept(Math.max(0, Duration.between(changed.now, next).toMillis() + 1));
    }
    return changed.view;
  }
}
