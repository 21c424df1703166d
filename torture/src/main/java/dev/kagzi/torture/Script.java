package dev.kagzi.torture;

import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.ChildHandle;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.StepBuilder;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowFailedEvent;
import dev.kagzi.torture.ClaimWatch.Delivered;
import dev.kagzi.torture.LedgerEntry.Author;
import dev.kagzi.torture.LedgerEntry.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/**
 * What a scenario's code does its work with: the workflow's context, with a line in the ledger for
 * everything that happens. Belongs to one execution of one run.
 *
 * <p>Each execution of a step has a value of its own, which it returns or throws. By it the checker
 * finds the very execution whose result is on record. How long a step takes and how often it fails
 * depends on the run's input alone, and on what is repaired outside.
 */
final class Script {
  /** Between an execution and the branch of it that writes. */
  static final char BRANCH_MARK = '/';

  private static final Retry PATIENT = Retry.exponential(3);

  /** Longer than code is given to leave after its interrupt. */
  private static final Duration DEAF = Duration.ofMillis(1_700);

  private final WorkflowContext ctx;
  private final WorkerDesk desk;
  private final Delivered claim;
  private final Author author;
  private final String input;
  private final String scope;
  private final List<String> values = new ArrayList<>();

  private Script(
      WorkflowContext ctx,
      WorkerDesk desk,
      Delivered claim,
      Author author,
      String input,
      String scope) {
    this.ctx = ctx;
    this.scope = scope;
    this.desk = desk;
    this.claim = claim;
    this.author = author;
    this.input = input;
  }

  /** An execution begins. */
  static Script begin(WorkflowContext ctx, String input, WorkerDesk desk) {
    Delivered claim = desk.claims().begins(ctx.runId());
    Author author = new Author(desk.process(), UUID.randomUUID().toString(), claim.epoch());
    Script script = new Script(ctx, desk, claim, author, input, "");
    script.write(Event.BEGIN, "", 0, ctx.workflowType());
    return script;
  }

  /** An execution begins of what handles a failure; which one that is, is its input. */
  static Script begin(WorkflowContext ctx, WorkflowFailedEvent event, WorkerDesk desk) {
    return begin(ctx, handlerInput(event.failedRunId(), event.attempts()), desk);
  }

  static String handlerInput(String failedRunId, int attempts) {
    return failedRunId + "#" + attempts;
  }

  /**
   * What all executions in one worker process share.
   *
   * @param process this life of this process
   */
  record WorkerDesk(String process, Ledger ledger, ClaimWatch claims, Repairs repairs) {}

  /** Choices of the scenario that are the same in each execution of the run. */
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

  /** A step that throws at its first attempts. */
  void step(String name, Retry retry, int failures) {
    IntPredicate fails = attempt -> attempt >= 1 && attempt <= failures;
    step(retry, new Execution(name, fails, lasting(length(name))));
  }

  /** A step that never works; its final failure is not caught. */
  void doomedStep(String name, Retry retry) {
    step(retry, new Execution(name, Script::always, lasting(length(name))));
  }

  /** A step that throws until somebody repairs what it needs. */
  void brokenStep(String name, Retry retry) {
    IntPredicate fails = attempt -> !desk.repairs().isRepaired(input);
    step(retry, new Execution(name, fails, lasting(length(name))));
  }

  /** A step whose first attempts take their time, unless they are interrupted. */
  void lingeringStep(String name, Duration time, int lingering) {
    step(
        PATIENT,
        new Execution(
            name,
            Script::never,
            (attempt, value) -> {
              if (attempt <= lingering) {
                Pause.of(time);
              }
            }));
  }

  /** A step whose first attempts take longer than they may, whatever that is answered with. */
  void slowStep(String name, Retry retry, Duration timeout, int slow) {
    write(Event.LIMIT, name, 0, Long.toString(timeout.toMillis()));
    step(
        ctx.step(name).retry(retry).timeout(timeout),
        new Execution(
            name,
            Script::never,
            (attempt, value) -> {
              if (attempt >= 1 && attempt <= slow) {
                outlast(name, attempt, timeout, value);
              }
            }));
  }

  private void outlast(String name, int attempt, Duration timeout, String value)
      throws InterruptedException {
    long beganNanos = System.nanoTime();
    switch (choices(name + attempt).nextInt(3)) {
      case 0 -> Pause.of(timeout.multipliedBy(3));
      case 1 -> {
        try {
          Pause.of(timeout.multipliedBy(3));
        } catch (InterruptedException e) {
          // It has an answer, and gives it although nobody waits for it any more.
        }
      }
      default -> Pause.deaf(timeout.plus(DEAF));
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

  /** A step that never works; answers when its final failure was caught. */
  void caughtStep(String name, Retry retry) {
    try {
      doomedStep(name, retry);
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

  /** The code has been told of a failure. */
  void handles(WorkflowFailedEvent event) {
    write(
        Event.HANDLES,
        event.workflowType(),
        event.attempts(),
        handled(event.failedRunId(), event.status().name(), event.error()));
  }

  /** A failure as the code of its handler is told. */
  static String handled(String failedRunId, String status, String error) {
    return String.join(" ", failedRunId, status, error);
  }

  /** The same in a branch: its steps are its own, and nobody else knows how far it is. */
  private Script branch(WorkflowContext branch, String name) {
    String inner = scope + name + "/";
    Author own =
        new Author(author.process(), author.execution() + BRANCH_MARK + inner, author.epoch());
    Script script = new Script(branch, desk, claim, own, input + inner, inner);
    script.write(Event.BEGIN, "", 0, ctx.workflowType());
    return script;
  }

  /** Branches at the same time. */
  void fan(String name, int count, BiConsumer<Script, Integer> code) {
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

  /** Branches of which one wins. */
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

  /** Children, all of which are started before the first is awaited. */
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

  /** Which version the code is that executes the run. */
  void isOfVersion(String version) {
    write(Event.VERSION, "", 0, version);
  }

  /** The run's output: its input, and all values in their order. */
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
    desk.ledger().write(event, ctx.runId(), author, key, attempt, value);
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

  /** Mostly short; some long enough to be announced, and a few longer than a lease. */
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

  /** What an attempt does before it returns its value or throws it. */
  @FunctionalInterface
  private interface Work {
    void run(int attempt, String value) throws InterruptedException;
  }

  /**
   * One step within this execution of the run; it may have several attempts. Where the number of an
   * attempt is not sure, it is 0.
   */
  private final class Execution {
    private final String step;
    private final IntPredicate fails;
    private final Work work;
    private int before;

    Execution(String step, IntPredicate fails, Work work) {
      this.step = step;
      this.fails = fails;
      this.work = work;
    }

    String attempt() throws InterruptedException, BrokenStepException {
      int first = claim.firstAttempt(scope + step);
      int attempt = first == 0 ? 0 : first + before;
      before++;
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

  /** What a step throws that is meant to fail. */
  private static final class BrokenStepException extends Exception {
    BrokenStepException(String value) {
      super(value);
    }
  }
}
