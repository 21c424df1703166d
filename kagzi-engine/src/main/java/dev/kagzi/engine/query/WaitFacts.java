package dev.kagzi.engine.query;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The facts from which an explanation is decided. Facts that are not needed for the status of the
 * run are not read: they are empty or null.
 *
 * @param steps open steps and steps that wait for their retry, latest first; at most {@link
 *     WaitQueries#STEPS_MAX}
 * @param children the runs that the listed steps wait for, at most {@link WaitQueries#STEPS_MAX}
 * @param last the step that was recorded last; null if there is none
 * @param holder the worker that holds the run, or lost it last; null if there is none
 * @param scheduleRuns some open runs of the schedule, oldest first; at most ten
 * @param child the facts of the first child that the run waits for, without those of its own
 *     children; null if there is none
 */
record WaitFacts(
    Instant now,
    Run run,
    List<Step> steps,
    Map<RunId, Child> children,
    @Nullable LastStep last,
    @Nullable WorkerView holder,
    @Nullable Queue queue,
    List<Child> scheduleRuns,
    @Nullable WaitFacts child) {

  /**
   * The run, or the template of a schedule.
   *
   * @param availableAt when the run may be claimed; {@link Instant#MAX} if no time is set
   * @param takenFrom the worker that lost the run, while it waits for its next worker; else null
   * @param acknowledgedEpoch the last claim about which its worker sent a request; null if unknown
   * @param messageAt since when the oldest message for the run waits; null if there is none
   * @param continuedTo the run that this one has continued as; null if there is none
   */
  record Run(
      String namespace,
      boolean isNamespaceEnabled,
      RunId runId,
      String taskQueue,
      String type,
      String version,
      RunStatus status,
      Instant createdAt,
      @Nullable Instant finishedAt,
      int epoch,
      @Nullable Integer acknowledgedEpoch,
      @Nullable WorkerId lockedBy,
      @Nullable WorkerId takenFrom,
      @Nullable Instant claimedAt,
      @Nullable Instant availableAt,
      List<String> waitsFor,
      boolean waitsForAll,
      int attempts,
      int crashes,
      @Nullable RetryPolicy policy,
      @Nullable Failure error,
      @Nullable Failure blockedBy,
      @Nullable Instant deadlineAt,
      @Nullable Instant cancelRequestedAt,
      @Nullable Instant messageAt,
      Signals signals,
      @Nullable RunId continuedTo,
      @Nullable Template template) {

    Run {
      waitsFor = List.copyOf(waitsFor);
    }

    /** Whether the run is suspended until this step ends, alone or with others. */
    boolean isSuspendedFor(Step step) {
      return status == RunStatus.SLEEPING && waitsFor.contains(step.ref().stepKey());
    }

    Instant handedOutAt() {
      return claimedAt == null ? createdAt : claimedAt;
    }
  }

  /** The signals that no step has received: how many, and their names. */
  record Signals(int buffered, List<String> names) {
    static final Signals NONE = new Signals(0, List.of());

    Signals {
      names = List.copyOf(names);
    }
  }

  /** The columns of a schedule. */
  record Template(
      String name,
      String overlapPolicy,
      @Nullable Instant nextAt,
      @Nullable Instant bufferedAt,
      @Nullable Instant lastFiredAt) {}

  /**
   * The last attempt of a step that is open or waits for its retry.
   *
   * @param ownName the name of the step, if it does not follow from its key; else null
   * @param failures failed attempts in the current attempt of the run
   * @param progress null if there is none, or if it is too long to be shown
   * @param before the failed attempt before this one; null if there is none
   */
  record Step(
      StepRef ref,
      @Nullable String ownName,
      StepKind kind,
      StepStatus status,
      Instant beganAt,
      int failures,
      @Nullable Failure error,
      @Nullable RetryPolicy policy,
      @Nullable Instant dueAt,
      @Nullable Instant timeoutAt,
      @Nullable RunId child,
      @Nullable Payload progress,
      @Nullable FailedAttempt before) {

    String name() {
      return ownName == null ? ref.name() : ownName;
    }
  }

  record FailedAttempt(int attempt, Failure error, @Nullable Duration took) {}

  record LastStep(String stepKey, StepStatus status, int epoch, Instant at) {}

  record Child(RunId runId, String type, RunStatus status, Instant createdAt) {}

  /**
   * The queue of a run that is due, and its workers.
   *
   * @param workers those that are not offline
   * @param held what each of them executes
   * @param holding the runs that have held a slot for the longest time: the first three, and the
   *     first three of the type of the explained run
   * @param ahead runs of the same type and version that are due before this one, at most {@link
   *     WaitQueries#AHEAD_MAX}
   * @param elsewhere other queues with online workers of the type
   * @param defaultVersion of the type
   */
  record Queue(
      List<WorkerView> workers,
      Map<WorkerId, Held> held,
      List<SlotRun> holding,
      int ahead,
      List<String> elsewhere,
      String defaultVersion) {
    Queue {
      workers = List.copyOf(workers);
      held = Map.copyOf(held);
      holding = List.copyOf(holding);
      elsewhere = List.copyOf(elsewhere);
    }
  }

  /**
   * The runs that a worker executes.
   *
   * @param ofType those of the type of the explained run
   * @param lastClaimAt when it received the latest of them
   */
  record Held(int runs, int ofType, Instant lastClaimAt) {
    static Held plus(Held one, Held other) {
      return new Held(
          one.runs + other.runs,
          one.ofType + other.ofType,
          one.lastClaimAt.isAfter(other.lastClaimAt) ? one.lastClaimAt : other.lastClaimAt);
    }
  }

  /**
   * A run that holds a slot.
   *
   * @param step a step that it executes; null if none is known
   * @param beganAt when that step began; without a step, when the worker received the run
   */
  record SlotRun(
      RunId runId, String externalId, String type, @Nullable String step, Instant beganAt) {}

  WaitFacts {
    steps = List.copyOf(steps);
    children = Map.copyOf(children);
    scheduleRuns = List.copyOf(scheduleRuns);
  }

  /** Whether the run can be claimed now: it is due, or the lease of its claim has ended. */
  boolean isDue() {
    return isDue(run, now);
  }

  /** Whether servers hand the run out when it is due. */
  boolean isHandedOut() {
    return run.isNamespaceEnabled() && !isDeadlinePassed();
  }

  boolean isDeadlinePassed() {
    Instant deadline = run.deadlineAt();
    return deadline != null && !deadline.isAfter(now);
  }

  static boolean isDue(Run run, Instant now) {
    Instant due = run.availableAt();
    return due != null && !due.isAfter(now);
  }
}
