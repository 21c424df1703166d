package dev.kagzi.torture;

import dev.kagzi.torture.Findings.Violation;
import dev.kagzi.torture.LedgerEntry.Author;
import dev.kagzi.torture.LedgerEntry.Event;
import dev.kagzi.torture.LedgerEntry.Moment;
import dev.kagzi.torture.StepRecord.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Evidence of one run, made by hand. Starts as that of a run without any fault, and is then
 * spoiled. Time goes on by a second with each thing that happens.
 */
final class MadeEvidence {
  static final String RUN = "run-1";
  static final String INPUT = "input-1";
  private static final long SECOND_MICROS = 1_000_000;

  private final List<LedgerEntry> entries = new ArrayList<>();
  private final List<RunRecord> runs = new ArrayList<>();
  private final List<StepRecord> steps = new ArrayList<>();
  private long nowMicros = SECOND_MICROS;

  List<Violation> check() {
    return Checker.check(Evidence.of(entries, runs, steps));
  }

  List<LedgerEntry> entries() {
    return List.copyOf(entries);
  }

  /** The client starts the run. */
  MadeEvidence started() {
    return entry(Event.STARTED, Author.client(), "steps", 0, INPUT);
  }

  MadeEvidence result(String status, String value) {
    return entry(Event.RESULT, Author.client(), status, 0, value);
  }

  MadeEvidence cancelAnswered(String value) {
    return entry(Event.CANCELLED, Author.client(), "", 0, value);
  }

  /** What a worker does under this claim from now on. */
  Execution claim(int epoch) {
    return claim(epoch, "execution-" + epoch);
  }

  Execution claim(int epoch, String execution) {
    return new Execution(new Author("worker-1.1", execution, epoch));
  }

  MadeEvidence run(String type, String status, int epoch, String output) {
    runs.add(
        new RunRecord(RUN, type, status, epoch, epoch, INPUT, output, "", passing(SECOND_MICROS)));
    return this;
  }

  MadeEvidence again(UnaryOperator<RunRecord> change) {
    runs.add(change.apply(runs.removeLast()));
    return this;
  }

  MadeEvidence alsoRun(RunRecord run) {
    runs.add(run);
    return this;
  }

  MadeEvidence completed(String step, int epoch, String value) {
    return completed(step, 1, epoch, value);
  }

  MadeEvidence completed(String step, int attempt, int epoch, String value) {
    return step(step, attempt, epoch, Status.COMPLETED, false, value);
  }

  MadeEvidence failed(String step, int attempt, int epoch, boolean isFinal, String value) {
    return step(step, attempt, epoch, Status.FAILED, isFinal, value);
  }

  private MadeEvidence step(
      String step, int attempt, int epoch, Status status, boolean isFinal, String value) {
    long at = passing(SECOND_MICROS);
    steps.add(new StepRecord(RUN, step, attempt, epoch, false, status, isFinal, value, at, at));
    return this;
  }

  MadeEvidence slept(String step, int epoch, long micros) {
    long from = nowMicros;
    steps.add(
        new StepRecord(
            RUN, step, 1, epoch, true, Status.COMPLETED, false, "", from, from + micros));
    return this;
  }

  MadeEvidence timePasses(long micros) {
    nowMicros += micros;
    return this;
  }

  private long passing(long micros) {
    nowMicros += micros;
    return nowMicros;
  }

  private MadeEvidence entry(Event event, Author author, String step, int attempt, String value) {
    passing(SECOND_MICROS);
    Moment at = new Moment(nowMicros * 1_000, nowMicros);
    entries.add(new LedgerEntry(event, RUN, author, step, attempt, value, at));
    return this;
  }

  /** What one execution writes to the ledger. */
  final class Execution {
    private final Author author;

    Execution(Author author) {
      this.author = author;
      entry(Event.BEGIN, author, "", 0, "");
    }

    Execution exec(String step, int attempt, String value) {
      entry(Event.EXEC, author, step, attempt, value);
      return this;
    }

    Execution seen(String step, String value) {
      entry(Event.SEEN, author, step, 0, value);
      return this;
    }

    /** Executes a step and sees its result. */
    Execution does(String step, String value) {
      return exec(step, 1, value).seen(step, value);
    }

    Execution caught(String step, String value) {
      entry(Event.CAUGHT, author, step, 0, value);
      return this;
    }

    Execution sleep(String step, long millis) {
      entry(Event.SLEEP, author, step, 0, Long.toString(millis));
      return this;
    }

    Execution woke(String step, long millis) {
      entry(Event.WOKE, author, step, 0, Long.toString(millis));
      return this;
    }

    MadeEvidence end(String output) {
      return entry(Event.END, author, "", 0, output);
    }
  }
}
