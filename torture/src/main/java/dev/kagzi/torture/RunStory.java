package dev.kagzi.torture;

import dev.kagzi.torture.LedgerEntry.Event;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * All that is known of one run: what the tables say, what workers did, what the client was told.
 *
 * @param run null if the tables do not have it
 * @param steps attempts in their order, by step
 * @param executions of the run's code, in no order
 * @param client the client's entries, in their order
 */
record RunStory(
    String runId,
    @Nullable RunRecord run,
    Map<String, List<StepRecord>> steps,
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

    /** A branch's part of an execution: what it has gone past, only it knows. */
    boolean isBranch() {
      return entries.getFirst().author().execution().indexOf(Script.BRANCH_MARK) >= 0;
    }

    /** Whether this execution ran the step's code, so that it had its value from there. */
    boolean hasExecuted(String step) {
      return of(Event.EXEC).anyMatch(entry -> entry.step().equals(step));
    }
  }

  RunStory {
    steps = Map.copyOf(steps);
    executions = List.copyOf(executions);
    client = List.copyOf(client);
  }

  static RunStory of(
      String runId, @Nullable RunRecord run, List<StepRecord> steps, List<LedgerEntry> entries) {
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
    return new RunStory(runId, run, byStep, executions, client);
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

  /** One at most for each attempt of the run. */
  Stream<StepRecord> finalFailures(String step) {
    return attempts(step).stream().filter(StepRecord::isFinalFailure);
  }

  /** Whether the step stands for branches together: it has no code of its own. */
  boolean isGroup(String step) {
    return steps.keySet().stream().anyMatch(other -> other.startsWith(step + "["));
  }

  Stream<LedgerEntry> client(Event event) {
    return client.stream().filter(entry -> entry.event() == event);
  }

  /** All entries of workers of this kind. */
  Stream<LedgerEntry> worker(Event event) {
    return executions.stream().flatMap(execution -> execution.of(event));
  }

  /** Whether the client was told that its start is durable. */
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

  /** Whether it failed because its client wanted it to. */
  boolean isTerminated() {
    return run != null && run.status().equals(RunRecord.FAILED) && isReason(run.error());
  }

  /** Whether the error is what the client terminated the run with. */
  boolean isReason(String error) {
    return client(Event.TERMINATED).anyMatch(entry -> error.equals("terminated: " + entry.step()));
  }

  /** Whether others than its own code have ended it. */
  boolean isEndedFromOutside() {
    return isCancelled() || isTimedOut() || isTerminated();
  }

  /** The scenario that it is a run of; null for a handler. */
  @Nullable Scenario scenario() {
    return run == null ? null : Scenarios.BY_NAME.get(run.type());
  }
}
