package dev.kagzi.torture;

import dev.kagzi.sdk.IdConflict;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunCancelledException;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.ServerUnavailableException;
import dev.kagzi.sdk.WorkflowStarter;
import dev.kagzi.torture.LedgerEntry.Author;
import dev.kagzi.torture.LedgerEntry.Event;
import dev.kagzi.torture.Scenario.Behavior;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the client does with one run, from its start to its result. Writes all answers to the
 * ledger. Used by one thread.
 */
final class ClientRun {
  /** The longest time before the client cancels or terminates a run. */
  private static final int ALONE_MS_MAX = 5_000;

  /** The longest pause before a signal: some runs wait, others have it buffered. */
  private static final int SIGNAL_PAUSE_MS_MAX = 1_200;

  /** How often a client asks for a callback, at most: the code may be delayed by many faults. */
  private static final int CALLBACK_CALLS_MAX = 10_000;

  private static final long NOT_MADE_NANOS = Duration.ofMillis(20).toNanos();

  private static final Retry WHOLE_RUN = Retry.fixed(4, Duration.ofMillis(300));

  /** Far more than all faults of a torture test could require. */
  private static final int RESUMES_MAX = 100;

  private final ClientContext context;
  private final Scenario scenario;
  private final String input;
  private final Random random;

  ClientRun(ClientContext context, Scenario scenario, String input, Random random) {
    this.context = context;
    this.scenario = scenario;
    this.input = input;
    this.random = random;
  }

  /**
   * What all client runs share.
   *
   * @param other a client that prefers another server
   */
  record ClientContext(Kagzi kagzi, Kagzi other, Ledger ledger, Repairs repairs) {}

  /** Starts the run and waits for its result. Returns false if the start was not acknowledged. */
  boolean run() throws InterruptedException {
    if (scenario.has(Behavior.CHANGES_DEFAULT)) {
      String version = Scenarios.VERSIONS.get(random.nextInt(Scenarios.VERSIONS.size()));
      // The answer does not matter: workers serve both versions, and the tables show which one a
      // run has.
      String unused =
          answer(
              () -> !context.kagzi.setDefaultVersion(scenario.type().version(version)).isEmpty());
    }
    write(Event.START, "", scenario.name(), input);
    RunHandle<String> run = scenario.has(Behavior.STARTS_TWICE) ? startTwice() : start();
    if (run == null) {
      return false;
    }
    if (scenario.has(Behavior.CANCELS)) {
      Pause.of(Duration.ofMillis(random.nextInt(ALONE_MS_MAX)));
      write(Event.CANCELLED, run.runId(), "", answer(run::cancel));
    }
    if (scenario.has(Behavior.TERMINATES)) {
      Pause.of(Duration.ofMillis(random.nextInt(ALONE_MS_MAX)));
      String reason = "reason-" + input;
      write(Event.TERMINATED, run.runId(), reason, answer(() -> run.terminate(reason)));
    }
    if (scenario.has(Behavior.SENDS_SIGNALS)) {
      sendSignals(run.runId());
    }
    Thread watching = scenario.has(Behavior.WATCHES) ? watch(run.runId()) : null;
    if (scenario.has(Behavior.ANSWERS_CALLBACKS)) {
      answerCallbacks(run.runId());
    }
    awaitResult(run);
    if (watching != null) {
      watching.join();
    }
    return true;
  }

  private Thread watch(String runId) {
    return Thread.ofVirtual()
        .start(
            () ->
                context
                    .other
                    .run(runId, scenario.type())
                    .watch(PublishedRules.NAME, String.class)
                    .forEach(value -> write(Event.WATCHED, runId, PublishedRules.NAME, value)));
  }

  /**
   * Answers each callback at two servers at once, with different values. One of them becomes the
   * answer.
   */
  private void answerCallbacks(String runId) throws InterruptedException {
    for (int i = 1; i <= Scenarios.callbackCount(input); i++) {
      Pause.of(Duration.ofMillis(random.nextInt(SIGNAL_PAUSE_MS_MAX)));
      String callback = Scenarios.callbackName(i);
      String value = CallbackRules.MARK + input + "-" + i;
      CompletableFuture<Void> other =
          CompletableFuture.runAsync(
              () -> answerCallback(context.other, runId, callback, value + "-b"),
              Thread.ofVirtual().name("answer")::start);
      answerCallback(context.kagzi, runId, callback, value + "-a");
      other.join();
    }
  }

  /** Like {@link #answer}, but also returns "unknown" if the code has not made the callback yet. */
  private static String madeAnswer(Supplier<Boolean> call) {
    try {
      return answer(call);
    } catch (RequestRefusedException e) {
      if (!e.code().equals("CALLBACK_NOT_FOUND")) {
        throw e;
      }
      LockSupport.parkNanos(NOT_MADE_NANOS);
      return "unknown";
    }
  }

  /** Repeats the call until the code has made the callback, and a server has answered. */
  private void answerCallback(Kagzi client, String runId, String callback, String value) {
    String answer = "unknown";
    for (int call = 0; answer.equals("unknown") && call < CALLBACK_CALLS_MAX; call++) {
      answer =
          madeAnswer(() -> client.run(runId, scenario.type()).completeCallback(callback, value));
    }
    if (answer.equals("true")) {
      write(Event.ANSWERED, runId, callback, value);
    }
  }

  /**
   * Sends the signals one after the other, so that their order is known. Sends each twice, at
   * different servers.
   */
  private void sendSignals(String runId) throws InterruptedException {
    for (int i = 1; i <= Scenarios.signalCount(input); i++) {
      Pause.of(Duration.ofMillis(random.nextInt(SIGNAL_PAUSE_MS_MAX)));
      String id = SignalRules.value(input, i);
      for (Kagzi client : List.of(context.kagzi, context.other)) {
        String answer = "unknown";
        for (int call = 0; answer.equals("unknown") && call < RESUMES_MAX; call++) {
          answer = answer(() -> send(client, runId, id));
        }
        if (answer.equals("true")) {
          write(Event.SENT, runId, "", id);
        }
      }
    }
  }

  private boolean send(Kagzi client, String runId, String id) {
    client.run(runId, scenario.type()).signal(Script.SIGNAL, id, id);
    return true;
  }

  private @Nullable RunHandle<String> start() {
    return started(() -> starter(context.kagzi).start(input));
  }

  private @Nullable RunHandle<String> startTwice() {
    CompletableFuture<RunHandle<String>> other = starter(context.other).startAsync(input);
    RunHandle<String> first = start();
    RunHandle<String> second = started(() -> joined(other));
    return first == null ? second : first;
  }

  private static RunHandle<String> joined(CompletableFuture<RunHandle<String>> start) {
    try {
      return start.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof ServerUnavailableException unavailable) {
        throw unavailable;
      }
      throw e;
    }
  }

  private @Nullable RunHandle<String> started(Supplier<RunHandle<String>> start) {
    try {
      RunHandle<String> run = start.get();
      write(run.existed() ? Event.FOUND : Event.STARTED, run.runId(), scenario.name(), input);
      return run;
    } catch (ServerUnavailableException e) {
      // The start was not acknowledged. If the run exists nevertheless, it must end like all
      // others.
      return null;
    }
  }

  private WorkflowStarter<String, String> starter(Kagzi kagzi) {
    WorkflowStarter<String, String> starter = kagzi.workflow(scenario.type());
    if (scenario.has(Behavior.STARTS_TWICE)) {
      starter.id(input).ifExists(IdConflict.USE_EXISTING_ANY);
    }
    if (scenario.has(Behavior.HANDLES_FAILURE)) {
      starter.onFailure(Scenarios.HANDLER);
    }
    if (scenario.has(Behavior.RETRIES)) {
      starter.retry(WHOLE_RUN);
    }
    if (scenario.has(Behavior.SETS_DEADLINE)) {
      starter.deadline(Clock.systemUTC().instant().plus(scenario.timeout()));
    } else if (!scenario.timeout().isZero()) {
      starter.executionTimeout(scenario.timeout());
    }
    return starter;
  }

  private static String answer(Supplier<Boolean> call) {
    try {
      return call.get().toString();
    } catch (ServerUnavailableException e) {
      // Not acknowledged: it may or may not have taken effect.
      return "unknown";
    }
  }

  private void awaitResult(RunHandle<String> run) {
    for (int i = 0; !isOver(run) && i < RESUMES_MAX; i++) {
      context.repairs.repair(input);
      resume(run);
    }
  }

  /** Waits for the result; false if it is a failure from which the run is to be resumed. */
  private boolean isOver(RunHandle<String> run) {
    try {
      write(Event.RESULT, run.runId(), RunRecord.COMPLETED, run.result());
    } catch (RunCancelledException e) {
      write(Event.RESULT, run.runId(), RunRecord.CANCELLED, "");
    } catch (RunFailedException e) {
      write(Event.RESULT, run.runId(), e.status().name(), e.failure().message());
      return !scenario.has(Behavior.RESUMES);
    }
    return true;
  }

  /** Repeats the call until it is answered: a repeated resume must do no harm. */
  private void resume(RunHandle<String> run) {
    String answer = "unknown";
    for (int i = 0; answer.equals("unknown") && i < RESUMES_MAX; i++) {
      answer = answer(scenario.has(Behavior.TERMINATES) ? run::forceResume : run::resume);
      write(Event.RESUMED, run.runId(), "", answer);
    }
  }

  private void write(Event event, String runId, String what, String value) {
    context.ledger.write(event, runId, Author.client(), what, 0, value);
  }
}
