package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.journal.BatchWriter.Effects;
import dev.kagzi.engine.internal.message.Messages;
import dev.kagzi.engine.internal.message.RunMessage;
import dev.kagzi.engine.internal.published.PublishedValues;
import dev.kagzi.engine.internal.run.InsertPayloads;
import dev.kagzi.engine.internal.run.InsertRuns;
import dev.kagzi.engine.internal.run.LargePayloads;
import dev.kagzi.engine.internal.run.LockRuns;
import dev.kagzi.engine.internal.run.ReportWrite;
import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.run.StartRun;
import dev.kagzi.engine.internal.run.StoredEnd;
import dev.kagzi.engine.internal.run.UpdateRuns;
import dev.kagzi.engine.internal.schedule.FiredRun;
import dev.kagzi.engine.internal.schedule.ScheduledRunEnds;
import dev.kagzi.engine.internal.signal.SignalRows;
import dev.kagzi.engine.internal.step.CloseSteps;
import dev.kagzi.engine.internal.step.ReadSteps;
import dev.kagzi.engine.internal.step.StepRow;
import dev.kagzi.engine.internal.step.WriteSteps;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The locked rows and the pending changes of one transaction. Changes are collected in memory,
 * merged by key, and flushed with one to three statements per kind of change.
 */
final class RunBatch {
  private static final Logger log = LoggerFactory.getLogger(RunBatch.class);
  private static final Failure ENDED =
      Failure.of(ErrorCode.PRECONDITION_FAILED, "cut short: the run ended first");

  private final Session tx;
  private final LargePayloads large;
  private final List<Effects> effects = new ArrayList<>();
  private final Map<StepRow.Key, Map<Integer, StepRow>> steps = new LinkedHashMap<>();

  /** Runs with a step of their current claim, as far as this batch has read or added it. */
  private final Set<RunId> runsWithStepOfClaim = new HashSet<>();

  private final List<ReportWrite> writtenWithoutRead = new ArrayList<>();
  private final List<RunMessage> messages = new ArrayList<>();
  private final List<InsertPayloads.Item> payloads = new ArrayList<>();

  /** Runs that end and may have open steps; true for completed runs. */
  private final Map<RunId, Boolean> endedWithOpenSteps = new LinkedHashMap<>();

  private final List<StartRun> starts = new ArrayList<>();
  private final ResumedRuns resumed = new ResumedRuns();
  private final Map<RunId, RunRow> handOutsToAcknowledge = new LinkedHashMap<>();
  private final ChildCancels childCancels = new ChildCancels();
  private final Set<CloseSteps.Scope> stoppedScopes = new LinkedHashSet<>();
  private final SignalBuffer signals = new SignalBuffer();
  private final PublishedValues published = new PublishedValues();
  private final Chains chains = new Chains();
  private final Set<RunRow> cancelRequests = new LinkedHashSet<>();
  private Map<RunId, RunRow> rows = Map.of();
  private Map<StepRow.Key, List<StepRow>> storedSteps = Map.of();
  private ReadSteps.Awaited awaited = ReadSteps.Awaited.NONE;
  private Messages.Taken inbox = Messages.Taken.NONE;
  private Map<RunId, FailureContext> failureContexts = Map.of();
  private Map<RunId, ResumeContext> resumeContexts = Map.of();
  private Map<RunId, StoredEnd> storedEnds = Map.of();

  RunBatch(Session tx, LargePayloads large) {
    this.tx = tx;
    this.large = large;
  }

  void lock(Collection<RunId> ids) throws SQLException {
    rows = ids.isEmpty() ? Map.of() : LockRuns.lock(tx, ids);
  }

  void readSteps(Collection<StepRow.Key> keys) throws SQLException {
    storedSteps = keys.isEmpty() ? Map.of() : ReadSteps.byKey(tx, keys);
    storedSteps.values().forEach(attempts -> attempts.forEach(this::markStepOfClaim));
  }

  /**
   * Reads the last attempts of steps that runs wait for or that messages are about.
   *
   * @param wanted the steps; true if the result of the step is returned to the worker
   */
  void readAwaited(Map<StepRow.Key, Boolean> wanted, long bytesMax) throws SQLException {
    awaited = wanted.isEmpty() ? ReadSteps.Awaited.NONE : ReadSteps.awaited(tx, wanted, bytesMax);
    awaited.last().values().forEach(this::markStepOfClaim);
  }

  void takeMessages(Collection<RunId> ids) throws SQLException {
    inbox = ids.isEmpty() ? Messages.Taken.NONE : Messages.take(tx, ids);
  }

  /** Reads what the decisions about signals need. Call it after the steps were read. */
  void readSignals(SignalReads reads) throws SQLException {
    List<SignalRows.Wanted> wanted = reads.wanted(this);
    signals.readSent(tx, reads.sent(), rows);
    signals.readReceived(tx, reads.received(wanted));
    signals.readOldest(tx, wanted);
  }

  SignalBuffer signals() {
    return signals;
  }

  void readPublished(Collection<RunId> ids) throws SQLException {
    published.read(tx, ids);
  }

  PublishedValues published() {
    return published;
  }

  /** Reads what decisions about chains need: of runs that continue, and that have continued. */
  void readChains(Collection<RunId> continuing, Collection<RunRow> continued) throws SQLException {
    chains.readOpenSteps(tx, continuing);
    chains.readLastRuns(tx, continued);
  }

  Chains chains() {
    return chains;
  }

  /** The steps by which this batch starts children that are not detached, or makes callbacks. */
  List<String> openedSteps(RunId runId) {
    Stream<String> children =
        starts.stream()
            .map(StartRun::lineage)
            .filter(lineage -> runId.equals(lineage.parent()) && !lineage.detached())
            .map(lineage -> String.valueOf(lineage.parentStep()));
    Stream<String> callbacks =
        steps.values().stream()
            .flatMap(attempts -> attempts.values().stream())
            .filter(step -> step.runId().equals(runId) && step.kind() == StepKind.CALLBACK)
            .map(StepRow::stepKey);
    return Stream.concat(children, callbacks).toList();
  }

  /**
   * Gives back the signals of a branch that has lost its race, and deletes its receives. With
   * {@code keepsEnded}, receives that have ended stay, because a replay needs them to reach the
   * undos that follow them.
   */
  void stopReceives(RunId runId, String scope, boolean keepsEnded) {
    signals.giveBack(runId, scope);
    CloseSteps.Scope stopped = new CloseSteps.Scope(runId, scope, keepsEnded);
    steps.keySet().removeIf(key -> stopped.deletes(attempts(key.runId(), key.stepKey()).getLast()));
    stoppedScopes.add(stopped);
  }

  /** {@code runs}: true for those that may be retried instead of failing. */
  void readFailureContexts(Map<RunId, Boolean> runs) throws SQLException {
    failureContexts = runs.isEmpty() ? Map.of() : FailureContext.read(tx, runs);
  }

  void readResumeContexts(Collection<RunId> ids) throws SQLException {
    resumeContexts = ids.isEmpty() ? Map.of() : ResumeContext.read(tx, ids);
  }

  /** Reads the stored results of runs whose end is reported again. */
  void readStoredEnds(Collection<RunId> ids) throws SQLException {
    storedEnds = ids.isEmpty() ? Map.of() : StoredEnd.read(tx, ids);
  }

  /** The result that the run ended with, before this batch or in it. */
  StoredEnd storedEnd(RunRow row) {
    StoredEnd before = storedEnds.getOrDefault(row.runId(), new StoredEnd(null, null));
    Payload output = before.output();
    for (InsertPayloads.Item item : payloads) {
      if (item.runId().equals(row.runId()) && item.kind() == InsertPayloads.Kind.OUTPUT) {
        output = item.payload();
      }
    }
    return new StoredEnd(output, row.failure() == null ? before.failure() : row.failure());
  }

  /** Null if it was not read, or the run does not exist. */
  @Nullable FailureContext failureContext(RunId id) {
    return failureContexts.get(id);
  }

  /** Null if it was not read, or the run does not exist. */
  @Nullable ResumeContext resumeContext(RunId id) {
    return resumeContexts.get(id);
  }

  @Nullable RunRow row(RunId id) {
    return rows.get(id);
  }

  List<RunMessage> inbox(RunId id) {
    return inbox.byReceiver().getOrDefault(id, List.of());
  }

  /**
   * The attempts of a step, in order: those that were read for this batch, and those that it has
   * added. For a plain result none is read.
   */
  List<StepRow> attempts(RunId runId, String stepKey) {
    StepRow.Key key = new StepRow.Key(runId, stepKey);
    Map<Integer, StepRow> added = steps.get(key);
    List<StepRow> before = storedSteps.getOrDefault(key, List.of());
    if (added == null) {
      return before;
    }
    Map<Integer, StepRow> all = new TreeMap<>();
    before.forEach(row -> all.put(row.attempt(), row));
    all.putAll(added);
    return List.copyOf(all.values());
  }

  /** The last attempt of an awaited step, stored or added by this batch; null if there is none. */
  @Nullable StepRow lastAttempt(RunId runId, String stepKey) {
    List<StepRow> attempts = attempts(runId, stepKey);
    StepRow before = awaited.last().get(new StepRow.Key(runId, stepKey));
    StepRow last = attempts.isEmpty() ? null : attempts.getLast();
    return last == null || (before != null && before.attempt() > last.attempt()) ? before : last;
  }

  /** True if the step's stored result was not read: over the byte limit, or not wanted. */
  boolean isWithheld(StepRow step) {
    return awaited.withheld().contains(step.key())
        && !hasAdded(step.runId(), step.stepKey(), step.attempt());
  }

  boolean hasAdded(RunId runId, String stepKey, int attempt) {
    Map<Integer, StepRow> added = steps.get(new StepRow.Key(runId, stepKey));
    return added != null && added.containsKey(attempt);
  }

  private void markStepOfClaim(StepRow step) {
    RunRow run = rows.get(step.runId());
    if (run != null && step.epoch() == run.epoch()) {
      runsWithStepOfClaim.add(step.runId());
    }
  }

  /** Whether this batch writes a later step, in the failed step's branch or an enclosing one. */
  boolean hasAddedSince(RunRow run, long sinceUs, String failedStep) {
    for (Map<Integer, StepRow> attempts : steps.values()) {
      for (StepRow step : attempts.values()) {
        String scope = step.stepKey().substring(0, step.stepKey().lastIndexOf('/') + 1);
        if (step.runId().equals(run.runId())
            && run.nowUs() - step.ranUs() > sinceUs
            && failedStep.startsWith(scope)) {
          return true;
        }
      }
    }
    return false;
  }

  /** Adds an attempt, or replaces the row of one that this batch has already added. */
  void add(StepRow row) {
    warnIfLarge(row.runId(), row.stepKey(), "input", row.input());
    warnIfLarge(row.runId(), row.stepKey(), "output", row.output());
    warnIfLarge(row.runId(), row.stepKey(), "progress", row.progress());
    steps.computeIfAbsent(row.key(), key -> new HashMap<>(2)).put(row.attempt(), row);
    markStepOfClaim(row);
  }

  /** Adds a result without reading the step first: the insert detects an existing result. */
  void addWithoutRead(StepRow row, ReportWrite write) {
    add(row);
    writtenWithoutRead.add(write);
  }

  /**
   * Like {@link #acknowledgeHandOut}, unless a step of the current claim shows that the worker has
   * the task.
   */
  void acknowledgeHandOutWithoutStep(RunRow run) {
    if (!runsWithStepOfClaim.contains(run.runId())) {
      acknowledgeHandOut(run);
    }
  }

  /** Records that the worker has received the task, because it has made a call about the run. */
  void acknowledgeHandOut(RunRow run) {
    if (!run.isHandOutAcknowledged()) {
      handOutsToAcknowledge.put(run.runId(), run);
    }
  }

  void post(RunMessage message) {
    messages.add(message);
  }

  void input(RunId runId, Payload input) {
    payloads.add(new InsertPayloads.Item(runId, InsertPayloads.Kind.INPUT, input));
  }

  private void warnIfLarge(RunId runId, String stepKey, String what, @Nullable Payload payload) {
    RunRow row = large.isLarge(payload) ? rows.get(runId) : null;
    if (row != null) {
      large.warn(row.type().type(), runId, what + " of step " + stepKey, payload);
    }
  }

  void output(RunId runId, Payload output) {
    RunRow row = large.isLarge(output) ? rows.get(runId) : null;
    if (row != null) {
      large.warn(row.type().type(), runId, "output", output);
    }
    payloads.add(new InsertPayloads.Item(runId, InsertPayloads.Kind.OUTPUT, output));
  }

  void start(StartRun run) {
    starts.add(run);
  }

  ResumedRuns resumed() {
    return resumed;
  }

  ChildCancels childCancels() {
    return childCancels;
  }

  /** Stores that a cancel was requested, also if the run ends in this batch. */
  void requestCancel(RunRow row) {
    cancelRequests.add(row);
  }

  void closeSteps(RunId runId) {
    resumed.remove(runId);
    endedWithOpenSteps.put(runId, false);
  }

  /** Closes open steps; the step of a child that was not awaited becomes COMPLETED. */
  void closeStepsOfCompleted(RunId runId) {
    endedWithOpenSteps.put(runId, true);
  }

  /** Registers an effect to run after the commit. Effects run in the order of registration. */
  void afterCommit(Effects effect) {
    effects.add(effect);
  }

  static RunEnd completion(RunRow row, RunStatus status, @Nullable Payload output) {
    return new RunEnd(row.runId(), status, output, row.failure(), row.continuedTo());
  }

  /** Whether this batch has taken messages, which deletes them. */
  boolean hasTakenMessages() {
    return !inbox.byReceiver().isEmpty();
  }

  /** Writes all collected changes; returns the effects to run after the commit. */
  Effects flush(RunEvents events) throws SQLException {
    inbox.unfinished().forEach(run -> afterCommit(() -> events.messagesPosted(run)));
    if (!starts.isEmpty()) {
      insertStarts(events);
    }
    signals.flushGivenBack(tx);
    if (!stoppedScopes.isEmpty()) {
      CloseSteps.deleteReceives(tx, stoppedScopes);
    }
    writeSteps();
    signals.flush(tx);
    published.flush(tx);
    published.changed().forEach(run -> afterCommit(() -> events.published(run)));
    if (!handOutsToAcknowledge.isEmpty()) {
      UpdateRuns.acknowledgeHandOuts(tx, handOutsToAcknowledge.values());
    }
    if (!endedWithOpenSteps.isEmpty()) {
      CloseSteps.endOpen(tx, endedWithOpenSteps, ENDED);
    }
    if (!messages.isEmpty()) {
      Messages.post(tx, messages);
    }
    List<RunRow> changed = new ArrayList<>();
    for (RunRow row : rows.values()) {
      if (row.isChanged()) {
        changed.add(row);
      }
    }
    if (!changed.isEmpty()) {
      UpdateRuns.apply(tx, changed);
      updateSchedules(changed, events);
      chains.flush(tx, this, events);
    }
    resumed.flush(tx, this, events, ENDED);
    if (!cancelRequests.isEmpty()) {
      UpdateRuns.requestCancel(tx, cancelRequests);
    }
    childCancels.post(tx).forEach(child -> afterCommit(() -> events.messagesPosted(child)));
    if (!payloads.isEmpty()) {
      InsertPayloads.apply(tx, payloads);
    }
    List<Effects> all = List.copyOf(effects);
    return () -> all.forEach(RunBatch::runEffect);
  }

  /** Updates the schedules of runs that ended or were resumed; not if their chains continue. */
  private void updateSchedules(List<RunRow> changed, RunEvents events) throws SQLException {
    List<ScheduledRunEnds.StatusChange> changes = new ArrayList<>();
    for (RunRow row : changed) {
      RunId schedule = row.schedule();
      if (schedule != null
          && row.continuedTo() == null
          && row.previousStatus().isFinal() != row.status().isFinal()) {
        changes.add(
            new ScheduledRunEnds.StatusChange(schedule, row.previousStatus(), row.status()));
      }
    }
    if (!changes.isEmpty()) {
      List<FiredRun> started = ScheduledRunEnds.apply(tx, changes);
      afterCommit(() -> FiredRun.publish(started, events));
    }
  }

  /**
   * Inserts child runs and failure handlers. Their ids are derived from their cause, so an existing
   * run was inserted by an earlier send of the same write.
   */
  private void insertStarts(RunEvents events) throws SQLException {
    Map<RunId, Instant> created = InsertRuns.insert(tx, starts);
    for (StartRun start : starts) {
      Instant at = created.get(start.runId());
      if (at != null) {
        input(start.runId(), start.request().input());
        afterCommit(() -> RunStarts.publishStart(start, at, events));
      }
    }
  }

  /** A failing effect must not keep the others from running. */
  private static void runEffect(Effects effect) {
    try {
      effect.run();
    } catch (RuntimeException bug) {
      log.atError().setCause(bug).log("effect after a commit failed");
    }
  }

  private void writeSteps() throws SQLException {
    List<StepRow> plain = new ArrayList<>();
    List<StepRow> others = new ArrayList<>();
    for (Map<Integer, StepRow> attempts : steps.values()) {
      for (StepRow row : attempts.values()) {
        (row.isPlainResult() ? plain : others).add(row);
      }
    }
    if (!others.isEmpty()) {
      WriteSteps.write(tx, others);
    }
    if (!plain.isEmpty() && WriteSteps.writePlain(tx, plain) < plain.size()) {
      RepeatedReports.answer(tx, this, writtenWithoutRead);
    }
  }
}
