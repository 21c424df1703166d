package dev.kagzi.bench;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** Kagzi: client and worker in this process, the server in another. */
final class KagziContender implements Contender {
  private static final String QUEUE = "bench";
  private static final String RESULT = "x".repeat(100);
  private static final String DONE = "ok";
  private static final WorkflowType<Integer, String> STEPS =
      WorkflowType.of("bench-steps", Integer.class, String.class).queue(QUEUE);
  private static final WorkflowType<Long, String> SLEEP =
      WorkflowType.of("bench-sleep", Long.class, String.class).queue(QUEUE);
  private static final int DEFAULT_SLOTS = 100;
  private static final Duration REGISTER_MAX = Duration.ofSeconds(30);

  private final BenchDatabase database;
  private final Progress progress;
  private final ChildProcess server;
  private final String address;
  private final SentRequests requests = new SentRequests();
  private final Kagzi kagzi;
  private @Nullable Worker worker;
  private int workerSlots;

  private KagziContender(BenchDatabase database, Progress progress, ChildProcess server, int port) {
    this.database = database;
    this.progress = progress;
    this.server = server;
    this.address = "127.0.0.1:" + port;
    this.kagzi = Kagzi.builder().address(address).grpcInterceptor(requests).connect();
  }

  static KagziContender start(BenchDatabase database, Progress progress) {
    ChildProcess server =
        ChildProcess.start(
            "the server",
            System.getProperty("java.class.path"),
            ServerMain.class.getName(),
            database.environment());
    try {
      return new KagziContender(database, progress, server, Integer.parseInt(server.read()));
    } catch (RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /** The gRPC address of the server. */
  String address() {
    return address;
  }

  Kagzi kagzi() {
    return kagzi;
  }

  @Override
  public String name() {
    return "kagzi";
  }

  @Override
  public Outcome run(Scenario scenario, Load load) {
    ensureWorker(load.inFlight());
    Callable<String> run =
        scenario == Scenario.SLEEP
            ? () -> kagzi.workflow(SLEEP).start(Scenario.SLEEP_MS).result()
            : () -> kagzi.workflow(STEPS).start(scenario.steps()).result();
    return Callers.drive(load, () -> check(run.call()), progress);
  }

  private static String check(String result) {
    if (!result.equals(DONE)) {
      throw new BenchException("result: " + result + " (expected: " + DONE + ")");
    }
    return result;
  }

  /**
   * Starts a worker with a slot for each run in flight, and at least the default number of slots.
   */
  private void ensureWorker(int inFlight) {
    int slots = Math.max(inFlight, DEFAULT_SLOTS);
    if (worker != null && workerSlots == slots) {
      return;
    }
    if (worker != null) {
      worker.close();
    }
    Worker started =
        kagzi
            .worker()
            .workflow(STEPS, KagziContender::steps)
            .workflow(SLEEP, KagziContender::sleep)
            .maxConcurrent(slots)
            .drainOnShutdown(false)
            .start();
    worker = started;
    workerSlots = slots;
    try {
      if (!started.awaitRegistered(REGISTER_MAX)) {
        throw new BenchException("the worker is not registered after " + REGISTER_MAX);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }

  private static String steps(WorkflowContext ctx, Integer steps) {
    for (int i = 0; i < steps; i++) {
      ctx.step("s", String.class, () -> RESULT);
    }
    return DONE;
  }

  private static String sleep(WorkflowContext ctx, Long ms) {
    ctx.sleep("nap", Duration.ofMillis(ms));
    return DONE;
  }

  @Override
  public Counters counters() {
    String answer = server.ask("counters");
    return new Counters(Long.parseLong(answer.split(" ", 2)[0]), requests.sum());
  }

  @Override
  public long serverPid() {
    return server.pid();
  }

  @Override
  public long clientPid() {
    return ProcessHandle.current().pid();
  }

  @Override
  public BenchDatabase database() {
    return database;
  }

  @Override
  public void close() {
    kagzi.close();
    server.close();
  }
}
