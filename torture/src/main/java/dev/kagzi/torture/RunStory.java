package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All evidence of one run: its rows, the ledger entries of workers, and those of the client.
 *
 * @param run null if it is not in the tables
 * @param steps attempts in their order, by step
 * @param allSignals signals and answers of callbacks, in the order of their arrival
 * @param published the stored value; empty if there is none
 * @param chainSignals the signals of all runs of the chain, in the order of the runs, without
 *     answers of callbacks; empty if the run has continued as new
 * @param executions of the run's code, in no order
 * @param client the client's entries, in their order. They include entries about earlier runs of
 *     the chain, because calls follow the chain
 */
record RunStory(
    String runId,
    @Nullable RunRecord run,
    Map<String, List<StepRecord>> steps,
    List<SignalRecord> allSignals,
    String published,
    List<SignalRecord> chainSignals,
    List<Execution> executions,
    List<LedgerEntry> client) {

  /**
   * One execution of the run's code in one process.
   *
   * @param epoch of its claim; 0 if unknown
   * @param entries in their order
   */
  record Execution(String process, int epoch, List<LedgerEntry> entries) {
    Execution {
      entries = List.copyOf(entries);
    }

    Stream<LedgerEntry> of(Event event) {
      return entries.stream().filter(entry -> entry.event() == event);
    }

    /**
     * Whether this is the part of an execution that a branch wrote. A branch progresses
     * independently of the main code.
     */
    boolean isBranch() {
      return entries.getFirst().author().execution().indexOf(Script.BRANCH_MARK) >= 0;
    }

    /** Whether this execution ran the step's code, so that its value comes from there. */
    boolean hasExecuted(String step) {
      return of(Event.EXEC).anyMatch(entry -> entry.step().equals(step));
    }
  }

  RunStory {
    steps = Map.copyOf(steps);
    allSignals = List.copyOf(allSignals);
    chainSignals = chainSignals.stream().filter(signal -> !signal.isAnswer()).toList();
    executions = List.copyOf(executions);
    client = List.copyOf(client);
  }

  /** The signals in the order of their arrival. */
  List<SignalRecord> signals() {
    return allSignals.stream().filter(signal -> !signal.isAnswer()).toList();
  }

  /** The answers of callbacks. */
  List<SignalRecord> answers() {
    return allSignals.stream().filter(SignalRecord::isAnswer).toList();
  }

  static RunStory of(
      String runId,
      @Nullable RunRecord run,
      List<StepRecord> steps,
      List<SignalRecord> signals,
      String published,
      List<SignalRecord> chainSignals,
      List<LedgerEntry> entries) {
    Map<String, List<StepRecord>> byStep = new LinkedHashMap<>();
    for (StepRecord step : steps) {
      byStep.merge(step.step(), List.of(step), RunStory::joined);
    }
    Map<String, List<LedgerEntry>> byExecution = new LinkedHashMap<>();
    for (LedgerEntry entry : entries) {
      byExecution.merge(entry.author().execution(), List.of(entry), RunStory::joined);
    }
    List<LedgerEntry> client = byExecution.getOrDefault("", List.of());
    byExecution.remove("");
    List<Execution> executions =
        byExecution.values().stream()
            .map(
                lines ->
                    new Execution(
                        lines.getFirst().author().process(),
                        lines.getFirst().author().epoch(),
                        lines))
            .toList();
    return new RunStory(runId, run, byStep, signals, published, chainSignals, executions, client);
  }

  private static <T> List<T> joined(List<T> some, List<T> more) {
    return Stream.concat(some.stream(), more.stream()).toList();
  }

  Stream<StepRecord> attempts() {
    return steps.values().stream().flatMap(List::stream);
  }

  List<StepRecord> attempts(String step) {
    return steps.getOrDefault(step, List.of());
  }

  Optional<StepRecord> completed(String step) {
    return attempts(step).stream().filter(StepRecord::isCompleted).findFirst();
  }

  /** At most one for each attempt of the run. */
  Stream<StepRecord> finalFailures(String step) {
    return attempts(step).stream().filter(StepRecord::isFinalFailure);
  }

  /** Whether the step represents a group of branches and has no code of its own. */
  boolean isGroup(String step) {
    return steps.keySet().stream().anyMatch(other -> other.startsWith(step + "["));
  }

  Stream<LedgerEntry> client(Event event) {
    return client.stream().filter(entry -> entry.event() == event);
  }

  /** All workers' entries of this kind. */
  Stream<LedgerEntry> worker(Event event) {
    return executions.stream().flatMap(execution -> execution.of(event));
  }

  /** Whether the run's start was acknowledged to the client. */
  boolean isAcknowledged() {
    return Stream.concat(client(Event.STARTED), client(Event.FOUND)).findAny().isPresent();
  }

  boolean isResumed() {
    return client(Event.RESUMED).findAny().isPresent();
  }

  boolean isCancelled() {
    return run != null && run.status().equals(RunRecord.CANCELLED);
  }

  boolean isTimedOut() {
    return run != null && run.status().equals(RunRecord.TIMED_OUT);
  }

  /** Whether it failed because its client terminated it. */
  boolean isTerminated() {
    return run != null && run.status().equals(RunRecord.FAILED) && isReason(run.error());
  }

  /** Whether the error is the reason with which the client terminated the run. */
  boolean isReason(String error) {
    return client(Event.TERMINATED).anyMatch(entry -> error.equals("terminated: " + entry.step()));
  }

  /** Whether something other than its own code has ended it. */
  boolean isEndedFromOutside() {
    return isCancelled() || isTimedOut() || isTerminated();
  }

  /** The scenario of the run; null for a handler. */
  @Nullable Scenario scenario() {
    return run == null ? null : Scenarios.BY_NAME.get(run.type());
  }
}
