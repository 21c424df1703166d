package dev.kagzi.bench;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Kagzi: client and worker in this process, the server in another or in this one. */
final class KagziContender implements Contender {
  private static final String QUEUE = "bench";
  private static final String RESULT = "x".repeat(100);
  static final String DONE = "ok";
  private static final WorkflowType<Integer, String> STEPS =
      WorkflowType.of("bench-steps", Integer.class, String.class).queue(QUEUE);
  private static final WorkflowType<Long, String> SLEEP =
      WorkflowType.of("bench-sleep", Long.class, String.class).queue(QUEUE);
  static final int SLOTS_DEFAULT = 100;
  private static final Duration REGISTER_MAX = Duration.ofSeconds(30);

  private final String name;
  private final Runnable afterClose;
  private final BenchDatabase database;
  private final Progress progress;
  private final MeasuredServer server;
  private final SentRequests requests = new SentRequests();
  private final Kagzi kagzi;
  private @Nullable Worker worker;
  private int workerSlots;

  /** Connects to the server, which the caller closes after this. */
  KagziContender(BenchDatabase database, Progress progress, MeasuredServer server) {
    this(database, progress, server, server.system(), () -> {});
  }

  private KagziContender(
      BenchDatabase database,
      Progress progress,
      MeasuredServer server,
      String name,
      Runnable afterClose) {
    this.name = name;
    this.afterClose = afterClose;
    this.database = database;
    this.progress = progress;
    this.server = server;
    this.kagzi = server.client().grpcInterceptor(requests).connect();
  }

  /** Starts a server without metrics, which is closed with this. */
  static KagziContender withoutTelemetry(BenchDatabase database, Progress progress) {
    ServerProcess server = ServerProcess.start(database, Map.of("KAGZI_METRICS", "false"));
    return new KagziContender(database, progress, server, "plain", server::close);
  }

  MeasuredServer server() {
    return server;
  }

  Kagzi kagzi() {
    return kagzi;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Outcome run(Scenario scenario, Load load) {
    ensureWorker(load.inFlight());
    return Callers.drive(load, () -> execute(kagzi, scenario), progress);
  }

  /** Starts a run of the scenario and returns its result. */
  static String execute(Kagzi kagzi, Scenario scenario) {
    String result =
        scenario == Scenario.SLEEP
            ? kagzi.workflow(SLEEP).start(Scenario.SLEEP_MS).result()
            : kagzi.workflow(STEPS).start(scenario.steps()).result();
    if (!result.equals(DONE)) {
      throw new BenchException("result: " + result + " (expected: " + DONE + ")");
    }
    return result;
  }

  /**
   * Starts a worker with a slot for each run in flight, and at least the default number of slots.
   */
  private void ensureWorker(int inFlight) {
    int slots = Math.max(inFlight, SLOTS_DEFAULT);
    if (worker != null && workerSlots == slots) {
      return;
    }
    if (worker != null) {
      worker.close();
    }
    worker = startWorker(kagzi, slots);
    workerSlots = slots;
  }

  /** Starts a worker that executes the runs of all scenarios. */
  static Worker startWorker(Kagzi kagzi, int slots) {
    Worker started =
        kagzi
            .worker()
            .workflow(STEPS, KagziContender::steps)
            .workflow(SLEEP, KagziContender::sleep)
            .maxConcurrent(slots)
            .drainOnShutdown(false)
            .start();
    awaitRegistered(started);
    return started;
  }

  static void awaitRegistered(Worker worker) {
    try {
      if (!worker.awaitRegistered(REGISTER_MAX)) {
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
    return new Counters(server.statements(), requests.sum(), List.of(), server.spans());
  }

  @Override
  public List<Long> serverPids() {
    return server.pid() == 0 ? List.of() : List.of(server.pid());
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
    afterClose.run();
  }
}
