package dev.kagzi.testkit;

import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Replayer;
import dev.kagzi.sdk.RunHistory;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkerBuilder;
import dev.kagzi.server.KagziServer;
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
 * A server with a database, a namespace and a clock of its own, inside this process, and a client
 * of it. Made by {@link KagziExtension}, or by {@link #start} in other frameworks.
 *
 * <p>The clock goes as fast as any other, and {@link #advance} moves it on top of that: sleeps,
 * delays of retries, deadlines and leases follow it, since the server knows no other clock. What
 * code under test reads by itself ({@code Instant.now()}) does not move.
 *
 * <p>Differences to a server in production: no wait is too short to give the worker back, nothing
 * is deleted by retention, namespaces come into being by themselves, and PostgreSQL does not wait
 * for the disk. Thread-safe.
 */
public final class KagziEnv implements AutoCloseable {
  private static final long LOOK_NANOS = TimeUnit.MICROSECONDS.toNanos(500);
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int NAMESPACE_LENGTH_MAX = 100;

  private final TestDatabase database;
  private final KagziServer server;
  private final Kagzi kagzi;
  private final String namespace;
  private final Executions executions = new Executions();
  private final Crashes crashes = new Crashes(this::lose);

  private KagziEnv(TestDatabase database, KagziServer server, String namespace) {
    this.database = database;
    this.server = server;
    this.namespace = namespace;
    this.kagzi =
        Kagzi.builder()
            .inProcess(server.inProcessName())
            .namespace(namespace)
            .workerInterceptor(executions)
            .grpcInterceptor(crashes)
            .connect();
  }

  /**
   * Starts a server for one test; whoever starts it closes it.
   *
   * @param name becomes the namespace, so that logs tell tests apart
   */
  public static KagziEnv start(String name) {
    String namespace = name.replaceAll("[^A-Za-z0-9_.-]", "_");
    TestDatabase database = TestDatabase.create();
    try {
      return new KagziEnv(
          database,
          KagziServer.start(database.serverConfig()),
          namespace.substring(0, Math.min(namespace.length(), NAMESPACE_LENGTH_MAX)));
    } catch (RuntimeException e) {
      database.close();
      throw e;
    }
  }

  /** The client. Its workers are stopped with the environment. */
  public Kagzi kagzi() {
    return kagzi;
  }

  /** A worker for these queues, as {@link Kagzi#worker}. */
  public WorkerBuilder worker(String... queues) {
    return kagzi.worker(queues);
  }

  /** The namespace of {@link #kagzi}. */
  public String namespace() {
    return namespace;
  }

  /** The server, for whoever wants a client of another kind. */
  public KagziServer server() {
    return server;
  }

  /** What the clock says. */
  public Instant now() {
    return database.now();
  }

  /**
   * Lets time pass. What is due on the way happens in its order, each at its own time: a run that
   * sleeps a day, fails, is tried again after a minute and sleeps another day goes through all of
   * it within one {@code advance(Duration.ofDays(3))}.
   *
   * <p>Before each move, and at the end, this waits until the environment is {@linkplain #settle
   * settled}: so the outcome does not depend on how fast this machine is. Workers live through the
   * time, as if they had beaten on.
   *
   * @throws IllegalStateException if it does not settle within ten seconds, for example because a
   *     step waits for something that the test does only later; {@link #advanceNow} does not wait
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
    return settled().nextDue().filter(due -> due.isBefore(end));
  }

  /**
   * Moves the clock in one go, whatever is running, and does not wait: for time-outs of code that
   * runs, and for leases. Claims of workers that are connected are renewed; a worker that is not
   * loses them when their time is over.
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
    server.engine().clockMoved();
  }

  /**
   * Waits until nothing more happens by itself: no worker executes a run, none is due that a worker
   * here could take, no deadline has passed unseen, and workers that have just started or were lost
   * are there. Runs that sleep, wait for a retry, or have no worker may be open.
   *
   * @throws IllegalStateException if that is not so within ten seconds, with what goes on
   */
  public void settle() {
    settled();
  }

  private TestDatabase.Look settled() {
    long began = System.nanoTime();
    TestDatabase.Look look = look();
    while (!look.busy().isEmpty()) {
      if (System.nanoTime() - began > PATIENCE_NANOS) {
        throw new IllegalStateException(
            "not settled after 10 s: %s (expected: runs that end or wait by themselves)"
                .formatted(String.join(", ", look.busy())));
      }
      LockSupport.parkNanos(LOOK_NANOS);
      look = look();
    }
    return look;
  }

  // A worker that is not registered yet is about to take what is due.
  private TestDatabase.Look look() {
    List<String> registering =
        kagzi.workers().stream()
            .filter(worker -> !worker.isRegistered() && !hasEnded(worker))
            .map(worker -> "a worker is registering")
            .toList();
    return registering.isEmpty()
        ? database.look()
        : new TestDatabase.Look(registering, Optional.empty());
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
   * Takes every worker for dead, as after a crash: its runs go to whoever polls next, and what it
   * still reports of them is refused. The workers themselves hear of it and register again.
   */
  public void loseWorkers() {
    database.workers().forEach(worker -> lose(worker).join());
  }

  private CompletableFuture<?> lose(String worker) {
    database.lost(worker);
    return server.engine().workers().forceOffline(null, TestDatabase.workerId(worker), "test");
  }

  /**
   * Lets the next worker that executes a step of this name die when the step's result is recorded,
   * before it does anything more; once. The run goes on elsewhere, or with the worker when it has
   * registered again, as if it were a new one: so a test sees that what is recorded is not done
   * again.
   *
   * <pre>{@code
   * env.crashWorkerAfter("charge");
   * RunHandle<Receipt> run = env.kagzi().workflow(PROCESS_ORDER).start(order);
   *
   * assertThat(run).completedWith(receipt).executedStep("charge").once();
   * }</pre>
   *
   * <p>All that the worker executes is interrupted, and goes on elsewhere, too. A crash within a
   * step, whose result nobody has recorded, is {@link #loseWorkers} while the step runs.
   *
   * <p>A crash that has not happened when the environment is closed is an error: a test that
   * misspells the step would be green otherwise.
   *
   * @param step its name, whichever of several of that name comes first, or its key ({@code
   *     charge#2})
   */
  public void crashWorkerAfter(String step) {
    crashes.plan(Objects.requireNonNull(step, "step"));
  }

  /**
   * Runs the workflows that workers of this environment serve against a recorded history, without
   * the server and without executing a step: {@link Replayer}.
   *
   * @param history written by {@code kagzi workflow export} or {@link RunHistory#write}
   * @throws AssertionError if the code does not do what is recorded, with the first step that
   *     differs
   */
  public void replay(Path history) {
    new HistoryFiles(kagzi.replayer()).replay(history);
  }

  /**
   * The same with every {@code .json} file in a folder and the folders in it.
   *
   * @throws AssertionError if one or more differ, with the first difference of each, or if there is
   *     none
   */
  public void replayAll(Path folder) {
    new HistoryFiles(kagzi.replayer()).replayAll(folder);
  }

  @Override
  public void close() {
    kagzi.close();
    server.close();
    database.close();
    executions.close();
    if (!crashes.planned().isEmpty()) {
      throw new IllegalStateException(
          "crashWorkerAfter: %s (expected: steps that were executed; the test has proved nothing)"
              .formatted(String.join(", ", crashes.planned())));
    }
  }

  /** Starts PostgreSQL now, which otherwise the first environment of a JVM does. */
  public static void prepare() {
    SharedPostgres.server();
    TestDatabase.prepare();
  }
}
