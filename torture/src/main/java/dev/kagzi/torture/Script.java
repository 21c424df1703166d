package dev.kagzi.torture;

import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.StepFailedException;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.torture.ClaimWatch.Delivered;
import dev.kagzi.torture.LedgerEntry.Author;
import dev.kagzi.torture.LedgerEntry.Event;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;

/**
 * What a scenario's code does its work with: the workflow's context, with a line in the ledger for
 * everything that happens. Belongs to one execution of one run.
 *
 * <p>Each execution of a step has a value of its own, which it returns or throws. By it the checker
 * finds the very execution whose result is on record. How long a step takes and how often it fails
 * depends on the run's input alone.
 */
final class Script {
  private static final int ALWAYS = Integer.MAX_VALUE;

  private final WorkflowContext ctx;
  private final Ledger ledger;
  private final Delivered claim;
  private final Author author;
  private final String input;
  private final List<String> values = new ArrayList<>();

  private Script(WorkflowContext ctx, Ledger ledger, Delivered claim, Author author, String input) {
    this.ctx = ctx;
    this.ledger = ledger;
    this.claim = claim;
    this.author = author;
    this.input = input;
  }

  /** An execution begins. */
  static Script begin(WorkflowContext ctx, String input, WorkerDesk desk) {
    Delivered claim = desk.claims().begins(ctx.runId());
    Author author = new Author(desk.process(), UUID.randomUUID().toString(), claim.epoch());
    Script script = new Script(ctx, desk.ledger(), claim, author, input);
    script.write(Event.BEGIN, "", 0, ctx.workflowType());
    return script;
  }

  /**
   * What all executions in one worker process share.
   *
   * @param process this life of this process
   */
  record WorkerDesk(String process, Ledger ledger, ClaimWatch claims) {}

  /** Choices of the scenario that are the same in each execution of the run. */
  Random choices(String about) {
    return new Random(input.hashCode() * 31L + about.hashCode());
  }

  /** A step that returns a value. */
  void step(String name) {
    step(name, Retry.exponential(3), 0);
  }

  /** A step that returns a value at once. */
  void quickStep(String name) {
    step(Retry.exponential(3), new Execution(name, 0, Duration.ZERO));
  }

  /** A step that throws at its first attempts. */
  void step(String name, Retry retry, int failures) {
    step(retry, new Execution(name, failures, length(name)));
  }

  private void step(Retry retry, Execution execution) {
    String name = execution.step;
    String value = ctx.step(name).retry(retry).run(String.class, execution::attempt);
    write(Event.SEEN, name, 0, value);
    values.add(value);
  }

  /** A step that never works; its final failure is not caught. */
  void doomedStep(String name, Retry retry) {
    step(name, retry, ALWAYS);
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
    ledger.write(event, ctx.runId(), author, step, attempt, value);
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

  /** One step within this execution of the run; it may have several attempts. */
  private final class Execution {
    private final String step;
    private final int failures;
    private final Duration length;
    private int before;

    Execution(String step, int failures, Duration length) {
      this.step = step;
      this.failures = failures;
      this.length = length;
    }

    String attempt() throws InterruptedException, BrokenStepException {
      int first = claim.firstAttempt(step);
      int attempt = first == 0 ? 0 : first + before;
      before++;
      boolean fails = attempt <= failures && failures > 0;
      String value = (fails ? "broke-" : "made-") + UUID.randomUUID();
      write(Event.EXEC, step, attempt, value);
      Pause.of(length);
      if (fails) {
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
