package dev.kagzi.torture;

import dev.kagzi.sdk.OnCancel;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * One kind of workflow: what its code does, how its client behaves, and how it must end.
 *
 * @param name unique; the name of the workflow type
 * @param code what the workflow does
 * @param end how a run ends that is not cancelled or terminated
 * @param timeout the execution time-out of a run; zero for none
 * @param behaviors how its client behaves
 */
record Scenario(String name, Code code, End end, Duration timeout, Set<Behavior> behaviors) {
  static final String QUEUE = "torture";

  /** Longer than any fault, so that every clean-up ends by then. */
  private static final Duration GRACE = Duration.ofMinutes(10);

  private static final Code NOTHING = script -> {};

  /** The code of a scenario; it must do the same in each execution of a run. */
  @FunctionalInterface
  interface Code {
    void run(Script script);
  }

  /** How a run ends, as in the tables. */
  enum End {
    COMPLETED,
    FAILED,
    TIMED_OUT
  }

  /** What a client does besides starting a run and waiting for its result. */
  enum Behavior {
    /** Cancels the run after a random time. */
    CANCELS,
    /** Terminates the run after a random time. */
    TERMINATES,
    /** Repairs the cause of the failure, and resumes the run until it completes. */
    RESUMES,
    /** Starts the run with a retry policy for the whole run. */
    RETRIES,
    /** Starts the run with a failure handler. */
    HANDLES_FAILURE,
    /** Sets a deadline instead of an execution time-out. */
    SETS_DEADLINE,
    /** Changes the default version of its type, and starts the run without a version. */
    CHANGES_DEFAULT,
    /** Its type cleans up when the run is cancelled. */
    CLEANS_UP,
    /** Sends signals to the run, each twice and from two servers. */
    SENDS_SIGNALS,
    /** Follows what the run publishes, at another server. */
    WATCHES,
    /** Answers callbacks of the run, each from two servers at once and with two values. */
    ANSWERS_CALLBACKS,
    /** Starts the run twice at the same time, on different servers, with one id. */
    STARTS_TWICE
  }

  Scenario {
    behaviors = Set.copyOf(behaviors);
  }

  static Scenario completing(String name, Code code) {
    return new Scenario(name, code, End.COMPLETED, Duration.ZERO, Set.of());
  }

  /** Code without any step and without ledger entries: it ends with its first report. */
  static Scenario withoutEffects(String name) {
    return completing(name, NOTHING);
  }

  static Scenario failing(String name, Code code) {
    return new Scenario(name, code, End.FAILED, Duration.ZERO, Set.of());
  }

  static Scenario timingOut(String name, Code code) {
    return new Scenario(name, code, End.TIMED_OUT, Duration.ZERO, Set.of());
  }

  Scenario within(Duration timeout) {
    return new Scenario(name, code, end, timeout, behaviors);
  }

  Scenario client(Behavior first, Behavior... more) {
    return new Scenario(name, code, end, timeout, EnumSet.of(first, more));
  }

  boolean hasEffects() {
    return !code.equals(NOTHING);
  }

  boolean has(Behavior behavior) {
    return behaviors.contains(behavior);
  }

  WorkflowType<String, String> type() {
    WorkflowType<String, String> type =
        WorkflowType.of(name, String.class, String.class).queue(QUEUE);
    return has(Behavior.CLEANS_UP) ? type.onCancel(OnCancel.CLEAN_UP, GRACE) : type;
  }

  String execute(WorkflowContext ctx, String input, Script.WorkerContext context) {
    return hasEffects()
        ? execute(Script.begin(ctx, input, context))
        : Script.output(input, List.of());
  }

  String execute(Script script) {
    code.run(script);
    return script.end();
  }
}
