package dev.kagzi.torture;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.Callback;
import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunCancelledException;
import dev.kagzi.sdk.Saga;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.StepBuilder;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowFailedEvent;
import dev.kagzi.torture.ClaimObserver.Delivered;
import dev.kagzi.torture.LedgerEntry.Author;
import dev.kagzi.torture.LedgerEntry.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The API of a scenario's code: the workflow context, with a ledger entry for everything that
 * happens. Belongs to one execution of one run.
 *
 * <p>Each execution of a step has a unique value, which it returns or throws. With this value the
 * checker finds the execution whose result is recorded. How long a step takes and how often it
 * fails depends only on the run's input and on what the client has repaired.
 */
final class Script {
  /** Separates the id of an execution from the branch that writes an entry. */
  static final char BRANCH_MARK = '/';

  /** The signal of all scenarios that receive one. */
  static final Signal<String> SIGNAL = Signal.of("signal", String.class);

  private static final Retry PATIENT = Retry.exponential(3);
  private static final Retry UNTIL_UNDONE = Retry.fixed(10, Duration.ofMillis(200));

  /** Longer than the SDK waits for code to return after its interrupt. */
  private static final Duration UNRESPONSIVE_TIME = Duration.ofMillis(1_700);

  private final WorkflowContext ctx;
  private final WorkerContext context;
  private final Delivered claim;
  private final Author author;
  private final String input;
  private final String scope;
  private final List<String> values;

  /** The open saga, and the script that opened it. A branch has those of the code around it. */
  private @Nullable Undos undos;

  private int published;

  private record Undos(Script script, Saga saga) {}

  private Script(
      WorkflowContext ctx,
      WorkerContext context,
      Delivered claim,
      Author author,
      String input,
      String scope,
      List<String> values) {
    this.ctx = ctx;
    this.scope = scope;
    this.values = values;
    this.context = context;
    this.claim = claim;
    this.author = author;
    this.input = input;
  }

  /** Begins an execution. */
  static Script begin(WorkflowContext ctx, String input, WorkerContext context) {
    Delivered claim = context.claims().takeBegun(ctx.runId());
    Author author = new Author(context.process(), UUID.randomUUID().toString(), claim.epoch());
    Script script = new Script(ctx, context, claim, author, input, "", new ArrayList<>());
    script.write(Event.BEGIN, "", 0, ctx.workflowType());
    return script;
  }

  /** Begins an execution of a handler; the failure that it handles is its input. */
  static Script begin(WorkflowContext ctx, WorkflowFailedEvent event, WorkerContext context) {
    return begin(ctx, handlerInput(event.failedRunId(), event.attempts()), context);
  }

  static String handlerInput(String failedRunId, int attempts) {
    return failedRunId + "#" + attempts;
  }

  /**
   * What all executions in one worker process share.
   *
   * @param process the name of the process, with the number of its start
   */
  record WorkerContext(String process, Ledger ledger, ClaimObserver claims, Repairs repairs) {}

  /** Random choices of the scenario that are the same in each execution of the run. */
  Random choices(String about) {
    return new Random(input.hashCode() * 31L + about.hashCode());
  }

  /** A step that returns a value. */
  void step(String name) {
    step(PATIENT, new Execution(name, Script::never, lasting(length(name))));
  }

  /** A step that returns a value at once. */
  void quickStep(String name) {
    step(PATIENT, new Execution(name, Script::never, lasting(Duration.ZERO)));
  }

  /** A step whose first attempts throw. */
  void step(String name, Retry retry, int failures) {
    IntPredicate fails = attempt -> attempt >= 1 && attempt <= failures;
    step(retry, new Execution(name, fails, lasting(length(name))));
  }

  /** A step that always fails; its final failure is not caught. */
  void failingStep(String name, Retry retry) {
    step(retry, new Execution(name, Script::always, lasting(length(name))));
  }

  /** A step that throws until the client repairs the cause. */
  void unrepairedStep(String name, Retry retry) {
    IntPredicate fails = attempt -> !context.repairs().isRepaired(input);
    step(retry, new Execution(name, fails, lasting(length(name))));
  }

  /** A step whose first attempts take long, unless they are interrupted. */
  void longStep(String name, Duration time, int longAttempts) {
    step(
        PATIENT,
        new Execution(
            name,
            Script::never,
            (attempt, value) -> {
              if (attempt <= longAttempts) {
                Pause.of(time);
              }
            }));
  }

  /**
   * A step whose first attempts exceed their time-out, and react to the interrupt in different
   * ways.
   */
  void slowStep(String name, Retry retry, Duration timeout, int slow) {
    write(Event.LIMIT, name, 0, Long.toString(timeout.toMillis()));
    step(
        ctx.step(name).retry(retry).timeout(timeout),
        new Execution(
            name,
            Script::never,
            (attempt, value) -> {
              if (attempt >= 1 && attempt <= slow) {
                exceedTimeout(name, attempt, timeout, value);
              }
            }));
  }

  private void exceedTimeout(String name, int attempt, Duration timeout, String value)
      throws InterruptedException {
    long beganNanos = System.nanoTime();
    switch (choices(name + attempt).nextInt(3)) {
      case 0 -> Pause.of(timeout.multipliedBy(3));
      case 1 -> {
        try {
          Pause.of(timeout.multipliedBy(3));
        } catch (InterruptedException e) {
          // Returns its result although the attempt has timed out.
        }
      }
      default -> Pause.ignoringInterrupts(timeout.plus(UNRESPONSIVE_TIME));
    }
    if (System.nanoTime() - beganNanos >= timeout.toNanos()) {
      write(Event.LATE, name, attempt, value);
    }
  }

  private void step(Retry retry, Execution execution) {
    step(ctx.step(execution.step).retry(retry), execution);
  }

  private void step(StepBuilder step, Execution execution) {
    String value = step.run(String.class, execution::attempt);
    write(Event.SEEN, execution.step, 0, value);
    values.add(value);
  }

  /** A step that always fails; catches its final failure. */
  void caughtStep(String name, Retry retry) {
    try {
      failingStep(name, retry);
    } catch (StepFailedException e) {
      String value = e.failure().message();
      write(Event.CAUGHT, name, 0, value);
      values.add(value);
      return;
    }
    throw new IllegalStateException("step " + name + " has succeeded (expected: a failure)");
  }

  void sleep(String name, Duration duration) {
    String millis = Long.toString(duration.toMillis());
    write(Event.SLEEP, name, 0, millis);
    ctx.sleep(name, duration);
    write(Event.WOKE, name, 0, millis);
  }

  int signalCount() {
    return Scenarios.signalCount(input);
  }

  int callbackCount() {
    return Scenarios.callbackCount(input);
  }

  /** Makes a callback and awaits its answer, which two waits must receive. */
  void callback(String name, Duration before, Duration timeout) {
    Callback<String> callback = ctx.callback(name, String.class);
    ctx.sleep("before-" + name, before);
    Optional<String> value = Optional.empty();
    while (value.isEmpty()) {
      value = callback.await(timeout);
    }
    String again = callback.await();
    if (!again.equals(value.get())) {
      throw new IllegalStateException(
          "callback %s: first %s, then %s (expected: one answer)"
              .formatted(name, value.get(), again));
    }
    write(Event.RECEIVED, name, 0, again);
    values.add(again);
  }

  void receive() {
    received(ctx.receive(SIGNAL));
  }

  /** Receives again each time that the timeout has passed. */
  void receive(Duration timeout) {
    Optional<String> value = Optional.empty();
    while (value.isEmpty()) {
      value = ctx.receive(SIGNAL, timeout);
    }
    received(value.get());
  }

  /** Receives a signal that is given back, because this branch loses its race. */
  void receiveInLoser() {
    ctx.receive(SIGNAL);
  }

  /** A race of a receive with a sleep; returns whether the receive won. */
  boolean receiveInRace(String name, Duration patience) {
    Branch<String> receive =
        Branch.of(
            "b0",
            branch -> {
              String value = branch.receive(SIGNAL);
              // The sleep may end first, although the signal was received.
              branch.sleep("think", patience.dividedBy(2));
              return value;
            });
    Branch<String> sleep =
        Branch.of(
            "b1",
            branch -> {
              branch.sleep("patience", patience);
              return "";
            });
    String value = ctx.race(name, List.of(receive, sleep));
    if (value.isEmpty()) {
      return false;
    }
    received(value);
    return true;
  }

  /** The number of this run in its chain, from 1. */
  int link() {
    return ChainInput.of(input).link();
  }

  /** Ends this run; the next one of the chain has the signals that were received so far. */
  void continueAsNew() {
    String next = ChainInput.of(input).next(values);
    write(Event.CONTINUES, "", 0, next);
    ctx.continueAsNew(next);
  }

  private void received(String value) {
    write(Event.RECEIVED, SIGNAL.name(), 0, value);
    values.add(value);
  }

  /** Publishes how far the code is: a number that increases, and its last value. */
  void publish() {
    published++;
    String value = PublishedRules.value(published, values.isEmpty() ? "-" : values.getLast());
    ctx.publish(PublishedRules.NAME, value);
    write(Event.PUBLISHED, PublishedRules.NAME, 0, value);
  }

  /** Writes the failure that a handler has received. */
  void handles(WorkflowFailedEvent event) {
    write(
        Event.HANDLES,
        event.workflowType(),
        event.attempts(),
        handled(event.failedRunId(), event.status().name(), event.error()));
  }

  /** A failure in the form in which its handler writes it. */
  static String handled(String failedRunId, String status, String error) {
    return String.join(" ", failedRunId, status, error);
  }

  /** Creates the script of a branch, which has its own steps and values. */
  private Script branch(WorkflowContext branch, String name) {
    String inner = scope + name + "/";
    Author own =
        new Author(author.process(), author.execution() + BRANCH_MARK + inner, author.epoch());
    Script script =
        new Script(branch, context, claim, own, input + inner, inner, new ArrayList<>());
    script.undos = undos;
    script.write(Event.BEGIN, "", 0, ctx.workflowType());
    return script;
  }

  /** Runs branches in parallel. */
  void parallel(String name, int count, BiConsumer<Script, Integer> code) {
    List<Integer> items = IntStream.range(0, count).boxed().toList();
    List<String> joined =
        ctx.parallel(
            name,
            items,
            (branch, i) -> {
              Script script = branch(branch, name + "[" + i + "]");
              code.accept(script, i);
              return String.join("+", script.values);
            });
    for (String value : joined) {
      write(Event.JOINED, name, 0, value);
      values.add(value);
    }
  }

  /** Runs a race of branches. */
  void race(String name, int count, BiConsumer<Script, Integer> code) {
    List<Branch<String>> branches = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int index = i;
      branches.add(
          Branch.of(
              "b" + i,
              branch -> {
                code.accept(branch(branch, name + "[b" + index + "]"), index);
                return "b" + index;
              }));
    }
    String winner = ctx.race(name, branches);
    write(Event.WON, name, 0, winner);
    values.add(winner);
  }

  /** Does something with undos, catches its failure, and undoes it in any case. */
  void saga(Consumer<Script> work) {
    Saga saga = ctx.saga();
    undos = new Undos(this, saga);
    try {
      work.accept(this);
    } catch (WorkFailedException e) {
      String value = e.failure().message();
      write(Event.CAUGHT, e.step(), 0, value);
      values.add(value);
    }
    write(Event.UNDOES, "", 0, "");
    saga.compensate();
  }

  /** Does something with undos, and undoes it if its run is cancelled meanwhile. */
  void cleaningUp(Consumer<Script> work) {
    Saga saga = ctx.saga();
    undos = new Undos(this, saga);
    try {
      work.accept(this);
    } catch (RunCancelledException cancelled) {
      write(Event.STOPPED, "", 0, "");
      saga.compensate();
      write(Event.CLEANED, "", 0, "");
      throw cancelled;
    }
  }

  /** Registers the undo of a step. The first attempts of the undo throw. */
  void undo(String step, int failures) {
    Undos due = Objects.requireNonNull(undos, "undos");
    String undone = scope + step;
    String name = "undo-" + undone.replaceAll("\\W", "-");
    due.saga.undo(name, undo -> due.script.undoing(undo, name).step(name, UNTIL_UNDONE, failures));
    context.ledger().write(Event.DUE, ctx.runId(), author, undoScope(name) + name, 0, undone);
  }

  /**
   * Creates the script of an undo. The code that compensates executes the undo, so both have the
   * same author.
   */
  private Script undoing(WorkflowContext undo, String name) {
    return new Script(undo, context, claim, author, input, undoScope(name), values);
  }

  private static String undoScope(String name) {
    return "saga[" + name + "]/";
  }

  /** Starts all children before it awaits the first. */
  void children(String name, int count) {
    Map<String, ChildHandle<String>> all = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      String step = name + "-" + i;
      all.put(step, ctx.child(Scenarios.CHILD).start(step, input + "." + step));
    }
    all.forEach(
        (step, child) -> {
          String value = child.result();
          write(Event.SEEN, step, 0, value);
          values.add(value);
        });
  }

  /** Writes the version of the code that executes the run. */
  void isOfVersion(String version) {
    write(Event.VERSION, "", 0, version);
  }

  /** Returns the run's output: its input, and all values in their order. */
  String end() {
    String output = output(input, values);
    write(Event.END, "", 0, output);
    return output;
  }

  static String output(String input, List<String> values) {
    return input + " " + String.join(",", values);
  }

  private void write(Event event, String step, int attempt, String value) {
    String key = step.isEmpty() ? "" : scope + step;
    context.ledger().write(event, ctx.runId(), author, key, attempt, value);
  }

  private static boolean never(int attempt) {
    return false;
  }

  private static boolean always(int attempt) {
    return true;
  }

  private static Work lasting(Duration length) {
    return (attempt, value) -> Pause.of(length);
  }

  /** Mostly short; some long enough to be reported as started, and a few longer than a lease. */
  private Duration length(String step) {
    Random random = choices(step);
    int kind = random.nextInt(100);
    int millis =
        kind < 80
            ? random.nextInt(15)
            : kind < 95
                ? 15 + random.nextInt(120)
                : kind < 99 ? 250 + random.nextInt(650) : 3_500 + random.nextInt(1_000);
    return Duration.ofMillis(millis);
  }

  /** What an attempt does before it returns or throws its value. */
  @FunctionalInterface
  private interface Work {
    void run(int attempt, String value) throws InterruptedException;
  }

  /**
   * One step within this execution of the run, with all its attempts. The attempt is 0 if it is
   * unknown.
   */
  private final class Execution {
    private final String step;
    private final IntPredicate fails;
    private final Work work;
    private int attemptsSoFar;

    Execution(String step, IntPredicate fails, Work work) {
      this.step = step;
      this.fails = fails;
      this.work = work;
    }

    String attempt() throws InterruptedException, BrokenStepException {
      int first = claim.firstAttempt(scope + step);
      int attempt = first == 0 ? 0 : first + attemptsSoFar;
      attemptsSoFar++;
      boolean broken = fails.test(attempt);
      String value = (broken ? "broke-" : "made-") + UUID.randomUUID();
      write(Event.EXEC, step, attempt, value);
      work.run(attempt, value);
      if (broken) {
        throw new BrokenStepException(value);
      }
      return value;
    }
  }

  /** Thrown by a step that is meant to fail. */
  private static final class BrokenStepException extends Exception {
    BrokenStepException(String value) {
      super(value);
    }
  }
}
