package dev.kagzi.testkit;

import dev.kagzi.embedded.EmbeddedServer;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Replayer;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunHistory;
import dev.kagzi.sdk.RunNotFoundException;
import dev.kagzi.sdk.SignalInfo;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkerBuilder;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A test environment in this process: a server with its own database, namespace and clock, and a
 * client. The server's libraries are hidden from the code under test. Created by {@link
 * KagziExtension}, or by {@link #start} in other test frameworks.
 *
 * <p>The clock runs at normal speed, and {@link #advance} moves it forward. Sleeps, retry delays,
 * deadlines and leases follow it, because the server computes them with the clock of the database.
 * So does {@code ctx.now()}. {@code Instant.now()} in the code under test is not affected.
 *
 * <p>Differences from a production server: every wait of a run without branches suspends it,
 * however short, retention deletes nothing, namespaces are created automatically, and PostgreSQL
 * does not wait for the disk. Thread-safe.
 */
public final class KagziEnv implements AutoCloseable {
  private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(500);
  private static final long SETTLE_NANOS_MAX = TimeUnit.SECONDS.toNanos(10);
  private static final int NAMESPACE_LENGTH_MAX = 100;

  private final TestDatabase database;
  private final EmbeddedServer server;
  private final Kagzi kagzi;
  private final String namespace;
  private final Executions executions = new Executions();
  private final Crashes crashes = new Crashes(this::markOffline);

  private KagziEnv(
      TestDatabase database, EmbeddedServer server, String namespace, Kagzi.Builder client) {
    this.database = database;
    this.server = server;
    this.namespace = namespace;
    this.kagzi =
        client
            .address(server.address())
            .namespace(namespace)
            .workerInterceptor(executions)
            .grpcInterceptor(crashes)
            .connect();
  }

  /**
   * Starts an environment for one test. The caller must close it.
   *
   * @param name used as namespace, so that logs show which test they belong to; characters other
   *     than {@code A-Za-z0-9_.-} become {@code _}
   */
  public static KagziEnv start(String name) {
    return start(name, Kagzi.builder());
  }

  /**
   * Like {@link #start(String)}, with options of {@link #kagzi}, for example a codec.
   *
   * @param client without address and namespace, which this method sets, and without credentials
   */
  public static KagziEnv start(String name, Kagzi.Builder client) {
    String namespace = name.replaceAll("[^A-Za-z0-9_.-]", "_");
    TestDatabase database = TestDatabase.create();
    try {
      return new KagziEnv(
          database,
          database.startServer(),
          namespace.substring(0, Math.min(namespace.length(), NAMESPACE_LENGTH_MAX)),
          client);
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
  }

  /**
   * Returns the signals that were sent to a run, in the order of their arrival, received or not.
   *
   * <pre>{@code
   * assertThat(env.signals(run)).filteredOn(SignalInfo::isReceived).hasSize(1);
   * }</pre>
   */
  public List<SignalInfo> signals(RunHandle<?> run) {
    return run.signals();
  }

  /**
   * Completes a callback of a run, without HTTP. Waits until the code of the run has made it, ten
   * seconds at most.
   *
   * @param callback the key of its step: its name, {@code pay#2} for the second one of a name, or
   *     {@code prepare[stock]/pay} in a branch
   * @throws RequestRefusedException if the run does not make it in time, or has ended
   */
  public void completeCallback(RunHandle<?> run, String callback, Object value) {
    answer(() -> run.completeCallback(callback, value));
  }

  /** Like {@link #completeCallback}, but fails the callback. */
  public void failCallback(RunHandle<?> run, String callback, String message) {
    answer(() -> run.failCallback(callback, message));
  }

  private static void answer(Runnable call) {
    long startNanos = System.nanoTime();
    while (true) {
      try {
        call.run();
        return;
      } catch (RequestRefusedException e) {
        if (!e.code().equals("CALLBACK_NOT_FOUND")
            || System.nanoTime() - startNanos > SETTLE_NANOS_MAX) {
          throw e;
        }
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** Returns the client. Its workers are closed with the environment. */
  public Kagzi kagzi() {
    return kagzi;
  }

  /** Returns a builder for a worker: {@link Kagzi#worker}. */
  public WorkerBuilder worker(String... queues) {
    return kagzi.worker(queues);
  }

  /** Returns the namespace of {@link #kagzi}. */
  public String namespace() {
    return namespace;
  }

  /** Returns host and port of the server, to connect another client. */
  public String address() {
    return server.address();
  }

  /** Returns the time of the environment's clock. */
  public Instant now() {
    return database.now();
  }

  /**
   * Moves the clock forward. Everything that becomes due on the way happens in order and at its own
   * time. A run that sleeps a day, fails, is retried after a minute and sleeps another day
   * completes within one {@code advance(Duration.ofDays(3))}.
   *
   * <p>Before each move and at the end this method waits until the environment is {@linkplain
   * #settle settled}, so the outcome does not depend on the speed of the machine. Workers stay
   * online, as if they had sent heartbeats meanwhile.
   *
   * @throws IllegalStateException if the environment does not settle within ten seconds, for
   *     example because a step waits for something that the test does later; {@link #advanceNow}
   *     does not wait
   */
  public void advance(Duration time) {
    check(time);
    settle();
    Instant end = now().plus(time);
    for (Optional<Instant> next = nextDueBefore(end); next.isPresent(); next = nextDueBefore(end)) {
      move(next.get());
    }
    move(end);
    settle();
  }

  private Optional<Instant> nextDueBefore(Instant end) {
    return awaitSettled().nextDue().filter(due -> due.isBefore(end));
  }

  /**
   * Moves the clock in one step and does not wait for running code. Use it to test timeouts of
   * running code and leases. Claims of connected workers are renewed; a disconnected worker loses
   * its claims when their leases end.
   */
  public void advanceNow(Duration time) {
    check(time);
    move(now().plus(time));
  }

  private static void check(Duration time) {
    if (time.isNegative()) {
      throw new IllegalArgumentException("time: " + time + " (expected: not negative)");
    }
  }

  private void move(Instant to) {
    database.moveClock(to);
    server.testControls().clockMoved();
  }

  /**
   * Waits until the server has started this run. A start in a transaction or in an outbox returns
   * the handle before that, and is sent in real time: call this method before {@link #advance}.
   *
   * <pre>{@code
   * RunHandle<String> run = orders.place(order);
   * env.awaitStarted(run);
   * env.advance(Duration.ofDays(1));
   * }</pre>
   *
   * @throws IllegalStateException if the run does not exist after ten seconds
   */
  public void awaitStarted(RunHandle<?> run) {
    long startNanos = System.nanoTime();
    while (!isStarted(run)) {
      if (System.nanoTime() - startNanos > SETTLE_NANOS_MAX) {
        throw new IllegalStateException(
            "run: %s, not started after 10 s (expected: a transaction that has committed, and a relay that sends the outbox)"
                .formatted(run.runId()));
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  private static boolean isStarted(RunHandle<?> run) {
    try {
      Object unused = run.status();
      return true;
    } catch (RunNotFoundException e) {
      return false;
    }
  }

  /**
   * Waits until only {@link #advance} can cause further progress. Then no worker executes a run,
   * every due run that a worker can take has been taken, passed deadlines are processed, and all
   * workers are registered. Open runs are sleeping, waiting for a child, a signal, a callback or a
   * retry, or have no worker.
   *
   * @throws IllegalStateException if the environment does not settle within ten seconds; the
   *     message lists what is still active, and what each of these runs is doing
   */
  public void settle() {
    awaitSettled();
  }

  private TestDatabase.Activity awaitSettled() {
    long startNanos = System.nanoTime();
    TestDatabase.Activity activity = activity();
    while (!activity.busy().isEmpty()) {
      if (System.nanoTime() - startNanos > SETTLE_NANOS_MAX) {
        throw new IllegalStateException(
            "not settled after 10 s: %s (expected: runs that end or wait by themselves)%s"
                .formatted(String.join(", ", activity.busy()), explanations(activity.runs())));
      }
      LockSupport.parkNanos(POLL_NANOS);
      activity = activity();
    }
    return activity;
  }

  /** What each of these runs is doing, or why it does not continue. */
  String explanations(List<TestDatabase.BusyRun> runs) {
    StringBuilder text = new StringBuilder();
    for (TestDatabase.BusyRun run : runs) {
      for (String cause : explain(run)) {
        text.append("\nrun ").append(run.runId()).append(": ").append(cause);
      }
    }
    return text.toString();
  }

  // A run that cannot be explained must not hide which runs are still active.
  private List<String> explain(TestDatabase.BusyRun run) {
    try {
      return server.testControls().explain(run.namespace(), run.runId());
    } catch (RuntimeException e) {
      return List.of("cannot be explained: " + e);
    }
  }

  // A worker that is not registered yet will soon take due runs.
  private TestDatabase.Activity activity() {
    List<String> registering =
        kagzi.workers().stream()
            .filter(worker -> !worker.isRegistered() && !hasEnded(worker))
            .map(worker -> "a worker is registering")
            .toList();
    return registering.isEmpty()
        ? database.activity()
        : new TestDatabase.Activity(registering, List.of(), Optional.empty());
  }

  private static boolean hasEnded(Worker worker) {
    try {
      return worker.awaitTermination(Duration.ZERO);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for workers", e);
    }
  }

  /**
   * Marks every worker offline, as after a crash. Their runs go to the next worker that polls, and
   * their later reports about these runs are rejected. The worker objects then register again.
   */
  public void loseWorkers() {
    database.workers().forEach(worker -> markOffline(worker).join());
  }

  private CompletableFuture<?> markOffline(String worker) {
    database.recordLost(worker);
    return server.testControls().forceWorkerOffline(worker);
  }

  /**
   * Crashes the next worker that executes a step of this name, once, as soon as the step's result
   * is recorded and before the worker does anything else. The run continues on another worker, or
   * on the same one after it registered again. Use it to test that recorded steps are not executed
   * again:
   *
   * <pre>{@code
   * env.crashWorkerAfter("charge");
   * RunHandle<Receipt> run = env.kagzi().workflow(PROCESS_ORDER).start(order);
   *
   * assertThat(run).completedWith(receipt).executedStep("charge").once();
   * }</pre>
   *
   * <p>The other runs of the worker are also interrupted and continue on another worker. To
   * simulate a crash within a step, before its result is recorded, call {@link #loseWorkers} while
   * the step runs.
   *
   * <p>{@link #close} throws if the crash has not happened. Otherwise a test that misspells the
   * step would pass.
   *
   * @param step the step's name, which matches the first step of that name, or its key ({@code
   *     charge#2})
   */
  public void crashWorkerAfter(String step) {
    crashes.plan(Objects.requireNonNull(step, "step"));
  }

  /**
   * Replays a recorded history with the workflows of this environment's workers, without the server
   * and without executing steps: {@link Replayer}.
   *
   * @param history a file of {@code kagzi workflow export} or {@link RunHistory#write}
   * @throws AssertionError if the code does not do what was recorded; the message contains the
   *     first step that differs
   */
  public void replay(Path history) {
    new HistoryFiles(kagzi.replayer()).replay(history);
  }

  /**
   * Like {@link #replay}, with every {@code .json} file in a folder and its subfolders.
   *
   * @throws AssertionError if one or more histories differ, with the first difference of each, or
   *     if the folder contains no history
   */
  public void replayAll(Path folder) {
    new HistoryFiles(kagzi.replayer()).replayAll(folder);
  }

  /**
   * Closes workers, server and database.
   *
   * @throws IllegalStateException if a crash of {@link #crashWorkerAfter} has not happened
   */
  @Override
  public void close() {
    kagzi.close();
    server.close();
    database.close();
    executions.close();
    checkCrashes();
  }

  /**
   * Checks that every crash of {@link #crashWorkerAfter} has happened; {@link #close} does so, too.
   * Call it at the end of each test if several tests share an environment.
   *
   * @throws IllegalStateException if one has not happened; it will not happen later
   */
  public void checkCrashes() {
    List<String> missing = crashes.forget();
    if (!missing.isEmpty()) {
      throw new IllegalStateException(
          "crashWorkerAfter: %s was not executed (expected: the name or key of an executed step)"
              .formatted(String.join(", ", missing)));
    }
  }

  /** Starts PostgreSQL now instead of with the first environment of the JVM. */
  public static void prepare() {
    SharedPostgres.server();
    TestDatabase.prepare();
  }
}
