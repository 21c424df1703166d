package dev.kagzi.torture;

import dev.kagzi.torture.Findings.Violation;
import dev.kagzi.torture.LedgerEntry.Author;
import dev.kagzi.torture.LedgerEntry.Event;
import dev.kagzi.torture.LedgerEntry.Moment;
import dev.kagzi.torture.StepRecord.Cause;
import dev.kagzi.torture.StepRecord.Status;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Builds the evidence of one run, and perhaps of its failure handler. Tests begin with a correct
 * run and then plant violations. Each event advances the time by a second.
 */
final class EvidenceBuilder {
  static final String RUN = "run-1";
  static final String INPUT = "input-1";
  private static final long SECOND_MICROS = 1_000_000;

  private final List<LedgerEntry> entries = new ArrayList<>();
  private final List<RunBuilder> runs = new ArrayList<>();
  private final List<StepRecord> steps = new ArrayList<>();
  private final List<SignalRecord> signals = new ArrayList<>();
  private final Map<String, String> published = new HashMap<>();
  private long nowMicros = SECOND_MICROS;

  List<Violation> check() {
    return Checker.check(
        Evidence.of(
            entries, runs.stream().map(RunBuilder::record).toList(), steps, signals, published));
  }

  List<LedgerEntry> entries() {
    return List.copyOf(entries);
  }

  /** The client starts the run. */
  EvidenceBuilder started() {
    return entry(Event.STARTED, Author.client(), "steps", 0, INPUT);
  }

  /** The client's second start finds the run. */
  EvidenceBuilder found() {
    return entry(Event.FOUND, Author.client(), "steps", 0, INPUT);
  }

  EvidenceBuilder result(String status, String value) {
    return entry(Event.RESULT, Author.client(), status, 0, value);
  }

  EvidenceBuilder cancelAnswered(String value) {
    return entry(Event.CANCELLED, Author.client(), "", 0, value);
  }

  EvidenceBuilder terminateAnswered(String reason, String value) {
    return entry(Event.TERMINATED, Author.client(), reason, 0, value);
  }

  EvidenceBuilder resumeAnswered(String value) {
    return entry(Event.RESUMED, Author.client(), "", 0, value);
  }

  /** Begins an execution under this claim. */
  Execution claim(int epoch) {
    return claim(epoch, "execution-" + epoch);
  }

  Execution claim(int epoch, String execution) {
    return claim(RUN, epoch, execution);
  }

  Execution claim(String run, int epoch, String execution) {
    return new Execution(run, new Author("worker-1.1", execution, epoch));
  }

  EvidenceBuilder run(String type, String status, int epoch, String output) {
    RunBuilder run = new RunBuilder(RUN, type, status, epoch, output);
    run.finishedMicros = advance(SECOND_MICROS);
    runs.add(run);
    return this;
  }

  /** Changes the run that was added last. */
  EvidenceBuilder changeRun(Consumer<RunBuilder> change) {
    change.accept(runs.getLast());
    return this;
  }

  /** Changes the run at this index. */
  EvidenceBuilder changeRun(int index, Consumer<RunBuilder> change) {
    change.accept(runs.get(index));
    return this;
  }

  EvidenceBuilder addRun(RunBuilder run) {
    runs.add(run);
    return this;
  }

  EvidenceBuilder completed(String step, int epoch, String value) {
    return completed(step, 1, epoch, value);
  }

  EvidenceBuilder completed(String step, int attempt, int epoch, String value) {
    return step(step, attempt, epoch, Status.COMPLETED, false, value);
  }

  EvidenceBuilder failed(String step, int attempt, int epoch, boolean isFinal, String value) {
    return step(step, attempt, epoch, Status.FAILED, isFinal, value);
  }

  EvidenceBuilder failed(String step, int attempt, int epoch, Cause cause) {
    failed(step, attempt, epoch, cause == Cause.RUN_ENDED, "no value");
    return changeStep(cause, 1);
  }

  /** Sets the attempt of the run for the last added step. */
  EvidenceBuilder inRunAttempt(int runAttempt) {
    return changeStep(Cause.CODE, runAttempt);
  }

  private EvidenceBuilder changeStep(Cause cause, int runAttempt) {
    StepRecord last = steps.removeLast();
    steps.add(
        new StepRecord(
            last.runId(),
            last.step(),
            last.attempt(),
            last.epoch(),
            runAttempt,
            last.isWait(),
            last.endsByTime(),
            last.status(),
            last.isFinal(),
            cause,
            last.value(),
            last.createdMicros(),
            last.finishedMicros(),
            last.childRunId()));
    return this;
  }

  private EvidenceBuilder step(
      String step, int attempt, int epoch, Status status, boolean isFinal, String value) {
    long at = advance(SECOND_MICROS);
    steps.add(
        new StepRecord(
            RUN,
            step,
            attempt,
            epoch,
            1,
            false,
            false,
            status,
            isFinal,
            Cause.CODE,
            value,
            at,
            at,
            ""));
    return this;
  }

  /** The claim has recorded the end of the sleep. */
  EvidenceBuilder slept(String step, int epoch, long micros) {
    return slept(step, epoch, micros, false);
  }

  /** The sleep has ended at its wake time, which no claim has recorded. */
  EvidenceBuilder sleptByTime(String step, int epoch, long micros) {
    return slept(step, epoch, micros, true);
  }

  private EvidenceBuilder slept(String step, int epoch, long micros, boolean endsByTime) {
    long from = nowMicros;
    steps.add(
        new StepRecord(
            RUN,
            step,
            1,
            epoch,
            1,
            true,
            endsByTime,
            Status.COMPLETED,
            false,
            Cause.CODE,
            "",
            from,
            from + micros,
            ""));
    return this;
  }

  /** The client has sent a signal, which is stored behind the others. */
  EvidenceBuilder sent(String id, String step) {
    signals.add(new SignalRecord(RUN, signals.size() + 1, id, step));
    return acknowledged(id);
  }

  /** A callback has an answer. */
  EvidenceBuilder answered(String callback, String value) {
    signals.add(new SignalRecord(RUN, signals.size() + 1, "callback:" + callback, "", value));
    return this;
  }

  EvidenceBuilder acknowledgedAnswer(String callback, String value) {
    return entry(Event.ANSWERED, Author.client(), callback, 0, value);
  }

  /** The signal has arrived at this run, or has moved to it. */
  EvidenceBuilder stored(String run, String id, String step) {
    signals.add(new SignalRecord(run, signals.size() + 1, id, step));
    return this;
  }

  EvidenceBuilder acknowledged(String id) {
    return entry(Event.SENT, Author.client(), "", 0, id);
  }

  /** The value is stored as published. */
  EvidenceBuilder stored(String value) {
    published.put(RUN, value);
    return this;
  }

  /** The client, which follows the published value, has read this one. */
  EvidenceBuilder watched(String value) {
    return entry(Event.WATCHED, Author.client(), PublishedRules.NAME, 0, value);
  }

  /** The step has received a signal. */
  EvidenceBuilder received(String step, int epoch, String value) {
    return received(RUN, step, epoch, value);
  }

  EvidenceBuilder received(String run, String step, int epoch, String value) {
    long at = advance(SECOND_MICROS);
    steps.add(
        new StepRecord(
            run,
            step,
            1,
            epoch,
            1,
            true,
            false,
            Status.COMPLETED,
            false,
            Cause.CODE,
            value,
            at,
            at,
            ""));
    return this;
  }

  /** The step was executed by a child run. */
  EvidenceBuilder child(String step, int epoch, String child, String value) {
    long at = advance(SECOND_MICROS);
    steps.add(
        new StepRecord(
            RUN,
            step,
            1,
            epoch,
            1,
            false,
            false,
            Status.COMPLETED,
            false,
            Cause.CODE,
            value,
            at,
            at,
            child));
    return this;
  }

  EvidenceBuilder timePasses(long micros) {
    nowMicros += micros;
    return this;
  }

  long nowMicros() {
    return nowMicros;
  }

  private long advance(long micros) {
    nowMicros += micros;
    return nowMicros;
  }

  private EvidenceBuilder entry(
      Event event, Author author, String step, int attempt, String value) {
    return entry(event, RUN, author, step, attempt, value);
  }

  private EvidenceBuilder entry(
      Event event, String run, Author author, String step, int attempt, String value) {
    advance(SECOND_MICROS);
    Moment at = new Moment(nowMicros * 1_000, nowMicros);
    entries.add(new LedgerEntry(event, run, author, step, attempt, value, at));
    return this;
  }

  /** A run under construction; the defaults are those of a correct run. */
  static final class RunBuilder {
    final String runId;
    String type;
    String status;
    int epoch;
    int endedEpoch;
    int attempts = 1;
    String input = INPUT;
    String output;
    String error = "";
    String handler = "";
    String failedRunId = "";
    boolean isHandler;
    String version = "";
    String parentRunId = "";
    String parentStep = "";
    String continuedTo = "";
    String continuedFrom = "";
    String firstRun = "";
    long createdMicros = SECOND_MICROS;
    long deadlineMicros;
    long finishedMicros = SECOND_MICROS;

    RunBuilder(String runId, String type, String status, int epoch, String output) {
      this.runId = runId;
      this.type = type;
      this.status = status;
      this.epoch = epoch;
      this.endedEpoch = epoch;
      this.output = output;
    }

    RunRecord record() {
      return new RunRecord(
          runId,
          type,
          status,
          epoch,
          endedEpoch,
          attempts,
          input,
          output,
          error,
          new RunRecord.Handling(handler, failedRunId, isHandler),
          new RunRecord.Times(createdMicros, deadlineMicros, finishedMicros),
          version,
          new RunRecord.Family(parentRunId, parentStep, false),
          new RunRecord.Chain(continuedTo, continuedFrom, firstRun));
    }
  }

  /** Writes the ledger entries of one execution. */
  final class Execution {
    private final String run;
    private final Author author;

    Execution(String run, Author author) {
      this.run = run;
      this.author = author;
      entry(Event.BEGIN, run, author, "", 0, "");
    }

    Execution exec(String step, int attempt, String value) {
      entry(Event.EXEC, run, author, step, attempt, value);
      return this;
    }

    Execution seen(String step, String value) {
      entry(Event.SEEN, run, author, step, 0, value);
      return this;
    }

    /** Receives the answer of a callback. */
    Execution calledBack(String callback, String value) {
      entry(Event.RECEIVED, run, author, callback, 0, value);
      return this;
    }

    /** Receives a signal. */
    Execution received(String value) {
      entry(Event.RECEIVED, run, author, "signal", 0, value);
      return this;
    }

    Execution published(String value) {
      entry(Event.PUBLISHED, run, author, PublishedRules.NAME, 0, value);
      return this;
    }

    /** Executes a step and receives its result. */
    Execution executes(String step, String value) {
      return exec(step, 1, value).seen(step, value);
    }

    Execution won(String race, String winner) {
      entry(Event.WON, run, author, race, 0, winner);
      return this;
    }

    Execution ofVersion(String version) {
      entry(Event.VERSION, run, author, "", 0, version);
      return this;
    }

    Execution caught(String step, String value) {
      entry(Event.CAUGHT, run, author, step, 0, value);
      return this;
    }

    /** Registers the undo of a step. */
    Execution due(String undo, String step) {
      entry(Event.DUE, run, author, undo, 0, step);
      return this;
    }

    Execution undoes() {
      entry(Event.UNDOES, run, author, "", 0, "");
      return this;
    }

    /** Learns that its run is cancelled. */
    Execution stopped() {
      entry(Event.STOPPED, run, author, "", 0, "");
      return this;
    }

    /** Has executed its undos. */
    Execution cleaned() {
      entry(Event.CLEANED, run, author, "", 0, "");
      return this;
    }

    Execution sleep(String step, long millis) {
      entry(Event.SLEEP, run, author, step, 0, Long.toString(millis));
      return this;
    }

    Execution woke(String step, long millis) {
      entry(Event.WOKE, run, author, step, 0, Long.toString(millis));
      return this;
    }

    Execution limit(String step, long millis) {
      entry(Event.LIMIT, run, author, step, 0, Long.toString(millis));
      return this;
    }

    Execution late(String step, String value) {
      entry(Event.LATE, run, author, step, 1, value);
      return this;
    }

    /** Receives the failure of a run of this type. */
    Execution handles(String type, int attempts, String value) {
      entry(Event.HANDLES, run, author, type, attempts, value);
      return this;
    }

    EvidenceBuilder continues(String input) {
      return entry(Event.CONTINUES, run, author, "", 0, input);
    }

    EvidenceBuilder end(String output) {
      return entry(Event.END, run, author, "", 0, output);
    }
  }
}
