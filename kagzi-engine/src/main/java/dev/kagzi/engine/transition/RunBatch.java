package dev.kagzi.engine.transition;

import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.journal.BatchWriter.Effects;
import dev.kagzi.engine.message.Messages;
import dev.kagzi.engine.message.RunMessage;
import dev.kagzi.engine.run.AcknowledgeHandOut;
import dev.kagzi.engine.run.InsertPayloads;
import dev.kagzi.engine.run.InsertRuns;
import dev.kagzi.engine.run.LargePayloads;
import dev.kagzi.engine.run.LockRuns;
import dev.kagzi.engine.run.ReopenRuns;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.run.RunEvents;
import dev.kagzi.engine.run.RunRow;
import dev.kagzi.engine.run.StartRun;
import dev.kagzi.engine.run.StoredEnd;
import dev.kagzi.engine.run.UpdateRuns;
import dev.kagzi.engine.schedule.FiredRun;
import dev.kagzi.engine.schedule.ScheduledRunEnds;
import dev.kagzi.engine.step.CaughtFailures;
import dev.kagzi.engine.step.CloseSteps;
import dev.kagzi.engine.step.ReadSteps;
import dev.kagzi.engine.step.StepRow;
import dev.kagzi.engine.step.WriteSteps;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepStatus;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one transaction knows of its runs and makes of them. Changes gather in memory, folded by
 * key, and are flushed with one statement per kind: steps, messages, runs, payloads.
 */
final class RunBatch {
  private static final Logger log = LoggerFactory.getLogger(RunBatch.class);
  private static final Failure ENDED =
      Failure.of(ErrorCode.PRECONDITION_FAILED, "cut short: the run ended first");

  private final Session tx;
  private final LargePayloads large;
  private final List<Effects> effects = new ArrayList<>();
  private final Map<StepRow.Key, Map<Integer, StepRow>> steps = new LinkedHashMap<>();
  private final List<ReportWrite> unseen = new ArrayList<>();
  private final List<RunMessage> messages = new ArrayList<>();
  private final List<InsertPayloads.Item> payloads = new ArrayList<>();

  /** Runs that end with open steps, and whether they end well. */
  private final Map<RunId, Boolean> endedWithOpenSteps = new LinkedHashMap<>();

  private final List<StartRun> starts = new ArrayList<>();
  private final Set<RunId> reopened = new LinkedHashSet<>();
  private final Map<RunId, RunRow> heard = new LinkedHashMap<>();
  private final Map<UUID, Integer> carriedOver = new LinkedHashMap<>();
  private final Map<RunId, Optional<Failure>> endedFromOutside = new LinkedHashMap<>();
  private Map<RunId, RunRow> rows = Map.of();
  private Map<StepRow.Key, List<StepRow>> known = Map.of();
  private ReadSteps.Awaited awaited = ReadSteps.Awaited.NONE;
  private Map<RunId, List<RunMessage>> inbox = Map.of();
  private Map<RunId, FailureContext> news = Map.of();
  private Map<RunId, ResumeContext> resumeNews = Map.of();
  private Map<RunId, StoredEnd> ends = Map.of();

  RunBatch(Session tx, LargePayloads large) {
    this.tx = tx;
    this.large = large;
  }

  void lock(Collection<RunId> ids) throws SQLException {
    if (!ids.isEmpty()) {
      rows = LockRuns.lock(tx, ids);
    }
  }

  void readSteps(Collection<StepRow.Key> keys) throws SQLException {
    if (!keys.isEmpty()) {
      known = ReadSteps.byKey(tx, keys);
    }
  }

  /**
   * Reads steps that runs wait for.
   *
   * @param wanted whether what has come of a step is to be told
   */
  void readAwaited(Map<StepRow.Key, Boolean> wanted, long bytesMax) throws SQLException {
    if (!wanted.isEmpty()) {
      awaited = ReadSteps.awaited(tx, wanted, bytesMax);
    }
  }

  void takeMessages(Collection<RunId> ids) throws SQLException {
    if (!ids.isEmpty()) {
      inbox = Messages.take(tx, ids);
    }
  }

  /** Reads what is needed of runs that may fail in this batch. */
  void readNews(Collection<RunId> ids) throws SQLException {
    if (!ids.isEmpty()) {
      news = FailureContext.read(tx, ids);
    }
  }

  /** Reads what is needed of runs that are to go on after their end. */
  void readResumeNews(Collection<RunId> ids) throws SQLException {
    if (!ids.isEmpty()) {
      resumeNews = ResumeContext.read(tx, ids);
    }
  }

  /** Reads what runs ended with that somebody ends again. */
  void readEnds(Collection<RunId> ids) throws SQLException {
    if (!ids.isEmpty()) {
      ends = StoredEnd.read(tx, ids);
    }
  }

  /** What the run has ended with, before this batch or in it. */
  StoredEnd storedEnd(RunRow row) {
    StoredEnd before = ends.getOrDefault(row.runId(), new StoredEnd(null, null));
    Payload output = before.output();
    for (InsertPayloads.Item item : payloads) {
      if (item.runId().equals(row.runId()) && item.kind() == InsertPayloads.Kind.OUTPUT) {
        output = item.payload();
      }
    }
    return new StoredEnd(output, row.failure() == null ? before.failure() : row.failure());
  }

  /** Null when it was not read, or there is no such run. */
  @Nullable FailureContext news(RunId id) {
    return news.get(id);
  }

  /** Null when it was not read, or there is no such run. */
  @Nullable ResumeContext resumeNews(RunId id) {
    return resumeNews.get(id);
  }

  /** The locked run; null when there is none. */
  @Nullable RunRow row(RunId id) {
    return rows.get(id);
  }

  List<RunMessage> inbox(RunId id) {
    return inbox.getOrDefault(id, List.of());
  }

  /** All attempts of a step as they are now, what this batch adds included, in order. */
  List<StepRow> attempts(RunId runId, String stepKey) {
    StepRow.Key key = new StepRow.Key(runId, stepKey);
    Map<Integer, StepRow> added = steps.get(key);
    List<StepRow> before = known.getOrDefault(key, List.of());
    if (added == null) {
      return before;
    }
    Map<Integer, StepRow> all = new TreeMap<>();
    before.forEach(row -> all.put(row.attempt(), row));
    all.putAll(added);
    return List.copyOf(all.values());
  }

  /** The last attempt of a step that a run waits for, as it is now; null when there is none. */
  @Nullable StepRow last(RunId runId, String stepKey) {
    List<StepRow> attempts = attempts(runId, stepKey);
    StepRow before = awaited.last().get(new StepRow.Key(runId, stepKey));
    StepRow last = attempts.isEmpty() ? null : attempts.getLast();
    return last == null || (before != null && before.attempt() > last.attempt()) ? before : last;
  }

  /** True when the step's result is stored and was not read: there was enough to tell. */
  boolean isWithheld(StepRow step) {
    return awaited.withheld().contains(step.key())
        && !hasAdded(step.runId(), step.stepKey(), step.attempt());
  }

  /** True when this batch says something of that attempt already. */
  boolean hasAdded(RunId runId, String stepKey, int attempt) {
    Map<Integer, StepRow> added = steps.get(new StepRow.Key(runId, stepKey));
    return added != null && added.containsKey(attempt);
  }

  /**
   * True when this batch says something of an attempt of the run that began after the time, in the
   * branch of the given step or around it.
   */
  boolean hasAddedSince(RunRow run, long us, String failed) {
    for (Map<Integer, StepRow> attempts : steps.values()) {
      for (StepRow step : attempts.values()) {
        String scope = step.stepKey().substring(0, step.stepKey().lastIndexOf('/') + 1);
        if (step.runId().equals(run.runId())
            && run.nowUs() - step.ranMs() * 1_000 > us
            && failed.startsWith(scope)) {
          return true;
        }
      }
    }
    return false;
  }

  /** Adds an attempt, or what has become of one that this batch opened before. */
  void add(StepRow row) {
    warn(row.runId(), row.stepKey(), "input", row.input());
    warn(row.runId(), row.stepKey(), "output", row.output());
    warn(row.runId(), row.stepKey(), "progress", row.progress());
    steps.computeIfAbsent(row.key(), key -> new HashMap<>(2)).put(row.attempt(), row);
  }

  /** Adds a result that nobody has looked up: whether it is the first shows when it is written. */
  void addUnseen(StepRow row, ReportWrite write) {
    add(row);
    unseen.add(write);
  }

  /** The run's worker has called about it: its task has arrived. */
  void heard(RunRow run) {
    if (!run.isHeard()) {
      heard.put(run.runId(), run);
    }
  }

  void post(RunMessage message) {
    messages.add(message);
  }

  /** Adds the input of a run that starts. */
  void input(RunId runId, Payload input) {
    payloads.add(new InsertPayloads.Item(runId, InsertPayloads.Kind.INPUT, input));
  }

  private void warn(RunId runId, String stepKey, String what, @Nullable Payload payload) {
    RunRow row = large.isLarge(payload) ? rows.get(runId) : null;
    if (row != null) {
      large.warn(row.type().type(), what + " of step " + stepKey, payload);
    }
  }

  void output(RunId runId, Payload output) {
    RunRow row = large.isLarge(output) ? rows.get(runId) : null;
    if (row != null) {
      large.warn(row.type().type(), "output", output);
    }
    payloads.add(new InsertPayloads.Item(runId, InsertPayloads.Kind.OUTPUT, output));
  }

  /** Adds a run that starts because of what happens to another. */
  void start(StartRun run) {
    starts.add(run);
  }

  /** The run goes on: its time begins anew, and the sleep that its end cut short is open again. */
  void reopen(RunId runId) {
    reopened.add(runId);
  }

  /** What the code of the run had caught is as final in its new attempt. */
  void carryOver(RunRow run) {
    carriedOver.put(run.runId().value(), run.attempts());
  }

  /** The run was ended, for a reason or for none: its children shall end too. */
  void cancelChildren(RunId runId, @Nullable Failure why) {
    endedFromOutside.put(runId, Optional.ofNullable(why));
  }

  void closeSteps(RunId runId) {
    reopened.remove(runId);
    endedWithOpenSteps.put(runId, false);
  }

  /** The same at a good end: a child that nobody awaited goes on, and its step was to start it. */
  void closeStepsOfCompleted(RunId runId) {
    endedWithOpenSteps.put(runId, true);
  }

  /** To be told after the commit, in the order of telling. */
  void then(Effects effect) {
    effects.add(effect);
  }

  /** A run's end as its watchers hear it. */
  static RunEnd end(RunRow row, RunStatus status, @Nullable Payload output) {
    return new RunEnd(row.runId(), status, output, row.failure());
  }

  /** Writes what has gathered. */
  Effects flush(RunEvents events) throws SQLException {
    if (!starts.isEmpty()) {
      startOthers(events);
    }
    writeSteps();
    if (!heard.isEmpty()) {
      AcknowledgeHandOut.apply(tx, heard.values());
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
      turnSchedules(changed, events);
    }
    if (!endedFromOutside.isEmpty()) {
      List<RunId> children = Messages.tellChildren(tx, endedFromOutside);
      children.forEach(child -> then(() -> events.messages(child)));
    }
    if (!reopened.isEmpty()) {
      CloseSteps.reopenSleeps(tx, reopened);
      if (!carriedOver.isEmpty()) {
        CaughtFailures.carryOver(tx, carriedOver);
      }
      if (CloseSteps.reopenChildren(tx, reopened, ENDED)) {
        Set<RunId> told = Messages.repeatEnds(tx, reopened);
        told.forEach(run -> then(() -> events.messages(run)));
      }
      Long expiresMs = ReopenRuns.renewDeadlines(tx, reopened);
      if (expiresMs != null) {
        then(() -> events.expires(expiresMs));
      }
    }
    if (!payloads.isEmpty()) {
      InsertPayloads.apply(tx, payloads);
    }
    List<Effects> all = List.copyOf(effects);
    return () -> all.forEach(RunBatch::tell);
  }

  /** What the end of a schedule's run does to its schedule. */
  private void turnSchedules(List<RunRow> changed, RunEvents events) throws SQLException {
    List<ScheduledRunEnds.Turn> turns = new ArrayList<>();
    for (RunRow row : changed) {
      RunId schedule = row.schedule();
      if (schedule != null && row.was().isFinal() != row.status().isFinal()) {
        turns.add(new ScheduledRunEnds.Turn(schedule, row.was(), row.status()));
      }
    }
    if (!turns.isEmpty()) {
      List<FiredRun> started = ScheduledRunEnds.apply(tx, turns);
      then(() -> FiredRun.tell(started, events));
    }
  }

  /** A run that is there already was started by the same write, sent before. */
  private void startOthers(RunEvents events) throws SQLException {
    Map<RunId, Instant> created = InsertRuns.insert(tx, starts);
    for (StartRun start : starts) {
      Instant at = created.get(start.runId());
      if (at != null) {
        input(start.runId(), start.request().input());
        then(() -> RunStarts.tell(start, at, events));
      }
    }
  }

  /** One that fails must not keep the others from being told. */
  private static void tell(Effects effect) {
    try {
      effect.run();
    } catch (RuntimeException bug) {
      log.atError().setCause(bug).log("telling of a commit failed");
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
      answerLosers();
    }
  }

  /** Some results were not the first: whoever sent one is told the recorded value. */
  private void answerLosers() throws SQLException {
    Map<StepRow.Key, ReportWrite> writes = new LinkedHashMap<>();
    for (ReportWrite write : unseen) {
      if (write.report() instanceof Report.StepDone done) {
        writes.put(new StepRow.Key(write.runId(), done.stepKey()), write);
      }
    }
    Map<StepRow.Key, List<StepRow>> stored = ReadSteps.byKey(tx, writes.keySet());
    writes.forEach(
        (key, write) -> stored.getOrDefault(key, List.of()).forEach(row -> answer(write, row)));
  }

  private void answer(ReportWrite write, StepRow stored) {
    RunRow run = rows.get(write.runId());
    boolean own = stored.attempt() == 1 && run != null && stored.epoch() == run.epoch();
    boolean decided =
        stored.status() == StepStatus.COMPLETED ? !own : stored.status() == StepStatus.FAILED;
    if (run != null && decided) {
      write.answer(new ReportResult.AlreadyRecorded(stored.recorded(run.nowUs(), run.attempts())));
    }
  }
}
