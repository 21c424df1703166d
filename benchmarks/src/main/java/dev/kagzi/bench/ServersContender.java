package dev.kagzi.bench;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Several servers on one database. Clients and workers, in this process, are spread evenly over
 * them, and have equal shares of the callers and of the slots.
 */
final class ServersContender implements Contender {
  private static final WorkflowType<String, String> BETWEEN =
      WorkflowType.of("bench-between", String.class, String.class).queue("bench-between");
  private static final int SLOTS_PER_RUN = 2;
  private static final int BETWEEN_WARM_UPS = 50;
  private static final int BETWEEN_RUNS = 200;

  private final BenchDatabase database;
  private final Progress progress;
  private final SentRequests requests = new SentRequests();
  private final List<ServerProcess> servers = new ArrayList<>();
  private final List<Kagzi> clients = new ArrayList<>();
  private final List<Worker> workers = new ArrayList<>();
  private int workerSlots;

  private ServersContender(BenchDatabase database, Progress progress) {
    this.database = database;
    this.progress = progress;
  }

  /**
   * Starts the servers and connects the clients.
   *
   * @param clients number of clients and of workers; a multiple of {@code count}
   */
  static ServersContender start(int count, int clients, BenchDatabase database, Progress progress) {
    ServersContender contender = new ServersContender(database, progress);
    try {
      for (int i = 0; i < count; i++) {
        contender.servers.add(ServerProcess.start(database));
      }
      for (int i = 0; i < clients; i++) {
        ServerProcess server = contender.servers.get(i % count);
        contender.clients.add(server.client().grpcInterceptor(contender.requests).connect());
      }
      return contender;
    } catch (RuntimeException e) {
      contender.close();
      throw e;
    }
  }

  @Override
  public String name() {
    return servers.size() == 1 ? "1 server" : servers.size() + " servers";
  }

  @Override
  public Outcome run(Scenario scenario, Load load) {
    ensureWorkers(load.inFlight());
    AtomicInteger next = new AtomicInteger();
    // A caller keeps its client, as the threads of an application do.
    ThreadLocal<Kagzi> own =
        ThreadLocal.withInitial(() -> clients.get(next.getAndIncrement() % clients.size()));
    return Callers.drive(load, () -> KagziContender.execute(own.get(), scenario), progress);
  }

  /**
   * Starts a worker for each client. Together they have twice as many slots as there are runs in
   * flight: workers with all slots in use would measure a shortage of workers.
   */
  private void ensureWorkers(int inFlight) {
    int slots =
        Math.ceilDiv(
            SLOTS_PER_RUN * Math.max(inFlight, KagziContender.SLOTS_DEFAULT), clients.size());
    if (workerSlots == slots) {
      return;
    }
    workers.forEach(Worker::close);
    workers.clear();
    clients.forEach(client -> workers.add(KagziContender.startWorker(client, slots)));
    workerSlots = slots;
  }

  /**
   * Measures the time from the start of a run at the first server to its code in a worker of the
   * last, one run at a time. Returns null with one server.
   */
  @Nullable Latency handOverBetweenServers(double targetMs) {
    if (servers.size() == 1) {
      return null;
    }
    progress.print(name() + ": hand-over from one server to another");
    Map<String, Long> begunNanos = new ConcurrentHashMap<>();
    try (Worker worker =
        clients
            .getLast()
            .worker()
            .workflow(BETWEEN, (WorkflowContext ctx, String input) -> begin(ctx, begunNanos))
            .drainOnShutdown(false)
            .start()) {
      KagziContender.awaitRegistered(worker);
      handOvers(BETWEEN_WARM_UPS, begunNanos);
      return Latency.of("hand-over between servers", handOvers(BETWEEN_RUNS, begunNanos), targetMs);
    }
  }

  private static String begin(WorkflowContext ctx, Map<String, Long> begunNanos) {
    begunNanos.put(ctx.runId(), System.nanoTime());
    return KagziContender.DONE;
  }

  private long[] handOvers(int runs, Map<String, Long> begunNanos) {
    long[] nanos = new long[runs];
    for (int i = 0; i < runs; i++) {
      long startNanos = System.nanoTime();
      var run = clients.getFirst().workflow(BETWEEN).start("");
      run.result();
      Long begun = begunNanos.remove(run.runId());
      if (begun == null) {
        throw new BenchException("run " + run.runId() + " ended without its code");
      }
      nanos[i] = begun - startNanos;
    }
    return nanos;
  }

  @Override
  public Counters counters() {
    List<ServerCounts> counts = servers.stream().map(ServerProcess::counts).toList();
    long statements = counts.stream().mapToLong(ServerCounts::statements).sum();
    return new Counters(statements, requests.sum(), counts);
  }

  @Override
  public List<Long> serverPids() {
    return servers.stream().map(ServerProcess::pid).toList();
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
    clients.forEach(Kagzi::close);
    servers.forEach(ServerProcess::close);
  }
}
