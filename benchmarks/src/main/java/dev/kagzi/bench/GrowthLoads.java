package dev.kagzi.bench;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkerBuilder;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** The measurements of {@link GrowthBench} on one database: each method returns one figure. */
final class GrowthLoads {
  private static final int IN_FLIGHT_MAX = 256;
  private static final int WIDTH = 100;
  private static final int WIDE_IN_FLIGHT = 8;
  private static final int FEW_CALLERS = 8;
  private static final int LARGE_IN_FLIGHT = 8;
  static final int PAGE = 50;
  private static final String LARGE = "x".repeat(256 * 1024 - 2);
  private static final String STEP_RESULT = "x".repeat(100);
  private static final String DONE = "ok";
  // Longer than the waits during which a worker keeps its claim, so that the run is released and
  // replayed.
  private static final Duration NAP = Duration.ofMillis(1_500);
  private static final double STARTS_PER_S = 1_500;
  private static final Duration SLEEP_MIN = Duration.ofSeconds(2);
  private static final Duration SLEEPS_APART = Duration.ofMillis(10);
  private static final Duration WAKE_UP_MAX = Duration.ofMinutes(10);

  private static final WorkflowType<String, String> LARGE_RUN =
      WorkflowType.of("bench-large", String.class, String.class).queue("bench-large");
  private static final WorkflowType<Integer, String> PARALLEL =
      WorkflowType.of("bench-wide", Integer.class, String.class).queue("bench-wide");
  private static final WorkflowType<Integer, String> PARENT =
      WorkflowType.of("bench-parent", Integer.class, String.class).queue("bench-wide");
  private static final WorkflowType<Integer, String> CHILD =
      WorkflowType.of("bench-child", Integer.class, String.class).queue("bench-children");
  private static final WorkflowType<Integer, String> LONG_RUN =
      WorkflowType.of("bench-long", Integer.class, String.class).queue("bench-long");
  private static final WorkflowType<Long, String> SLEEPER =
      WorkflowType.of("bench-sleeper", Long.class, String.class).queue("bench-sleepers");
  private static final WorkflowType<Integer, String> BURST =
      WorkflowType.of("bench-burst", Integer.class, String.class).queue("bench-burst");

  private final KagziContender contender;
  private final Kagzi kagzi;
  private final Progress progress;
  private final GrowthSizes sizes;
  private final Set<String> createdNamespaces = new HashSet<>();

  GrowthLoads(KagziContender contender, Progress progress, GrowthSizes sizes) {
    this.contender = contender;
    this.kagzi = contender.kagzi();
    this.progress = progress;
    this.sizes = sizes;
  }

  double runsPerSecond(Scenario scenario) {
    return contender.run(scenario, Load.of(sizes.inFlight(), sizes.measuredRuns())).runsPerSecond();
  }

  /** Puts the load of a scenario on the server for this long. */
  void load(Scenario scenario, Duration time) {
    contender.run(scenario, new Load(sizes.inFlight(), Integer.MAX_VALUE, time));
  }

  /** The medians of a start without a worker, and of the poll that claims its run. */
  List<Latency> startAndClaim() {
    return new LatencyBench(contender, progress, sizes.calls()).measureStartAndPoll();
  }

  double listMs() {
    return medianMs(() -> kagzi.list().pageSize(PAGE).page());
  }

  double listFailedMs() {
    return medianMs(() -> kagzi.list().status(RunStatus.FAILED).pageSize(PAGE).page());
  }

  double statsMs() {
    return medianMs(() -> kagzi.admin().stats());
  }

  private double medianMs(Runnable call) {
    long[] nanos = new long[sizes.calls()];
    for (int i = -nanos.length; i < nanos.length; i++) {
      long begunNanos = System.nanoTime();
      call.run();
      if (i >= 0) {
        nanos[i] = System.nanoTime() - begunNanos;
      }
    }
    return Latency.of("call", nanos, 1).p50();
  }

  double purgeMs() {
    return GrowthTables.purge(contender.database(), sizes.expired()).toMillis();
  }

  /** Runs per second with inputs, step results and outputs of 256 KiB. */
  double largePayloads() {
    return with(
        List.of("bench-large"),
        worker -> worker.workflow(LARGE_RUN, GrowthLoads::large).maxConcurrent(LARGE_IN_FLIGHT),
        () -> rate(LARGE_IN_FLIGHT, sizes.largeRuns(), LARGE_RUN, () -> LARGE));
  }

  private static String large(WorkflowContext ctx, String input) {
    return ctx.step("echo", String.class, () -> input);
  }

  /** Runs per second with 100 steps in parallel each. */
  double parallelSteps() {
    return with(
        List.of("bench-wide"),
        worker -> worker.workflow(PARALLEL, GrowthLoads::parallel),
        () -> rate(WIDE_IN_FLIGHT, sizes.wideRuns(), PARALLEL, () -> WIDTH));
  }

  private static String parallel(WorkflowContext ctx, Integer branches) {
    List<Integer> items = IntStream.range(0, branches).boxed().toList();
    ctx.parallel("all", items, (branch, item) -> branch.step("s", String.class, () -> STEP_RESULT));
    return DONE;
  }

  /** Runs per second with 100 children each. */
  double children() {
    return with(
        List.of("bench-wide", "bench-children"),
        worker ->
            worker
                .workflow(PARENT, GrowthLoads::parent)
                .workflow(CHILD, (ctx, input) -> DONE)
                .maxConcurrent(2 * WIDTH * WIDE_IN_FLIGHT),
        () -> rate(WIDE_IN_FLIGHT, sizes.wideRuns(), PARENT, () -> WIDTH));
  }

  private static String parent(WorkflowContext ctx, Integer children) {
    ctx.results(
        IntStream.range(0, children)
            .mapToObj(i -> ctx.child(CHILD).start("child-" + i, i))
            .toList());
    return DONE;
  }

  /** The median time in ms from the wake-up of a run with many steps to the end of its replay. */
  double resumeMs() {
    Queue<Long> replayedNanos = new ConcurrentLinkedQueue<>();
    return with(
        List.of("bench-long"),
        worker -> worker.workflow(LONG_RUN, (ctx, steps) -> longRun(ctx, steps, replayedNanos)),
        () -> {
          kagzi.workflow(LONG_RUN).start(sizes.stepsOfLongRun()).result();
          List<Long> all = List.copyOf(replayedNanos);
          long[] nanos = new long[sizes.resumes()];
          for (int i = 0; i < nanos.length; i++) {
            nanos[i] = all.get(i + 1) - all.get(i) - NAP.toNanos();
          }
          return Latency.of("resume", nanos, 1).p50();
        });
  }

  /** Sleeps after its steps again and again; each sleep releases the run, which is replayed. */
  private String longRun(WorkflowContext ctx, Integer steps, Queue<Long> replayedNanos) {
    for (int i = 0; i < steps; i++) {
      ctx.step("s", String.class, () -> STEP_RESULT);
    }
    for (int i = 0; i < sizes.resumes(); i++) {
      if (replayedNanos.size() == i) {
        replayedNanos.add(System.nanoTime());
      }
      ctx.sleep("nap", NAP);
    }
    replayedNanos.add(System.nanoTime());
    return DONE;
  }

  /** How late runs continue whose sleeps all end within one second, at an even rate. */
  Lateness sleepsInOneSecond() {
    return lateness(sizes.sleepsInOneSecond(), IN_FLIGHT_MAX, Duration.ofSeconds(1));
  }

  /** How late runs continue whose sleeps end one after the other, at an even rate. */
  Lateness sleepsOnTime() {
    // A few callers: runs that start all at once would record their sleeps late.
    int runs = sizes.sleepsOnTime();
    return lateness(runs, FEW_CALLERS, SLEEPS_APART.multipliedBy(runs));
  }

  /**
   * How late the code of runs continues after a sleep, in ms.
   *
   * @param last the highest of all
   */
  record Lateness(double p99, double last) {}

  /** The sleeps of the runs end one after the other, evenly spread over a time. */
  private Lateness lateness(int runs, int callers, Duration time) {
    Queue<Long> lateMs = new ConcurrentLinkedQueue<>();
    CountDownLatch asleep = new CountDownLatch(runs);
    return with(
        List.of("bench-sleepers"),
        worker ->
            worker
                .workflow(
                    SLEEPER,
                    (ctx, untilMs) -> {
                      sleepUntil(ctx, untilMs);
                      lateMs.add(System.currentTimeMillis() - untilMs);
                      asleep.countDown();
                      return DONE;
                    })
                .maxConcurrent(1_000),
        () -> {
          Duration starts = Duration.ofSeconds((long) Math.ceil(runs / STARTS_PER_S));
          long firstMs = System.currentTimeMillis() + SLEEP_MIN.plus(starts).toMillis();
          AtomicLong started = new AtomicLong();
          List<RunHandle<String>> all =
              startAll(
                  SLEEPER,
                  runs,
                  callers,
                  () -> firstMs + started.getAndIncrement() * time.toMillis() / runs);
          // Only then: callers that await results would compete with the wake-ups.
          await(asleep);
          awaitAll(all);
          long[] nanos =
              lateMs.stream()
                  .mapToLong(ms -> Duration.ofMillis(Math.max(1, ms)).toNanos())
                  .sorted()
                  .toArray();
          return new Lateness(Latency.of("sleep", nanos, 1).p99(), nanos[nanos.length - 1] / 1e6);
        });
  }

  private static void sleepUntil(WorkflowContext ctx, long untilMs) {
    // Recorded, because the time that is left differs in a replay.
    long leftMs =
        ctx.step("left", Long.class, () -> Math.max(1, untilMs - System.currentTimeMillis()));
    ctx.sleep("nap", Duration.ofMillis(leftMs));
  }

  /** Runs per second, from the registration of a worker to the end of all runs that waited. */
  double burst() {
    List<RunHandle<String>> runs = startAll(BURST, sizes.burst(), IN_FLIGHT_MAX, () -> 0);
    return with(
        List.of("bench-burst"),
        worker -> worker.workflow(BURST, (ctx, input) -> DONE).maxConcurrent(1_000),
        () -> {
          long begunNanos = System.nanoTime();
          awaitAll(runs);
          return runs.size() / ((System.nanoTime() - begunNanos) / 1e9);
        });
  }

  private <I> List<RunHandle<String>> startAll(
      WorkflowType<I, String> type, int count, int callers, Supplier<I> input) {
    Queue<RunHandle<String>> runs = new ConcurrentLinkedQueue<>();
    Callers.drive(
        Load.of(Math.min(callers, count), count),
        () -> runs.add(kagzi.workflow(type).start(input.get())),
        progress);
    return List.copyOf(runs);
  }

  /** Waits for all results. One caller alone would need longer than the runs themselves. */
  private void awaitAll(List<RunHandle<String>> runs) {
    Queue<RunHandle<String>> left = new ConcurrentLinkedQueue<>(runs);
    Callers.drive(
        Load.of(Math.min(IN_FLIGHT_MAX, runs.size()), runs.size()),
        () -> left.remove().result(),
        progress);
  }

  /** W5 with this many workers, which have a slot for each run in flight together. */
  double withWorkers(int count) {
    WorkflowType<Integer, String> type = steps("bench-workers");
    int slots = Math.ceilDiv(sizes.inFlight(), count);
    List<Worker> workers = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        workers.add(
            kagzi
                .worker("bench-workers")
                .workflow(type, GrowthLoads::fiveSteps)
                .maxConcurrent(slots)
                .drainOnShutdown(false)
                .start());
      }
      workers.forEach(KagziContender::awaitRegistered);
      return rate(sizes.inFlight(), sizes.measuredRuns(), type, () -> 5);
    } finally {
      workers.forEach(Worker::close);
    }
  }

  /** W5 over this many queues, which one worker serves. */
  double withQueues(int count) {
    List<WorkflowType<Integer, String>> types = new ArrayList<>();
    List<String> queues = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      queues.add("bench-queue-" + i);
      types.add(steps("bench-queue-" + i));
    }
    return with(
        queues,
        worker ->
            worker
                .workflow(types.getFirst(), GrowthLoads::fiveSteps)
                .maxConcurrent(sizes.inFlight()),
        () -> {
          Load load = Load.of(sizes.inFlight(), sizes.measuredRuns());
          return Callers.drive(
                  load,
                  () ->
                      kagzi
                          .workflow(types.get(ThreadLocalRandom.current().nextInt(count)))
                          .start(5)
                          .result(),
                  progress)
              .runsPerSecond();
        });
  }

  /**
   * W5 over as many clients as there may be namespaces, each with a connection and a worker of its
   * own, in this many namespaces.
   */
  double withNamespaces(int count) {
    WorkflowType<Integer, String> type = steps("bench-namespaces");
    List<Kagzi> clients = new ArrayList<>();
    try {
      for (int i = 0; i < sizes.namespaces(); i++) {
        clients.add(contender.server().client().namespace(namespace(i % count)).connect());
      }
      clients.forEach(client -> createNamespace(client.namespace()));
      List<Worker> workers =
          clients.stream()
              .map(
                  client ->
                      client
                          .worker("bench-namespaces")
                          .workflow(type, GrowthLoads::fiveSteps)
                          .maxConcurrent(sizes.inFlight())
                          .drainOnShutdown(false)
                          .start())
              .toList();
      workers.forEach(KagziContender::awaitRegistered);
      return Callers.drive(
              Load.of(sizes.inFlight(), sizes.measuredRuns()),
              () ->
                  clients
                      .get(ThreadLocalRandom.current().nextInt(clients.size()))
                      .workflow(type)
                      .start(5)
                      .result(),
              progress)
          .runsPerSecond();
    } finally {
      clients.forEach(Kagzi::close);
    }
  }

  private void createNamespace(String name) {
    if (createdNamespaces.add(name)) {
      kagzi.namespaces().create(name);
    }
  }

  private static String namespace(int number) {
    return "bench-namespace-" + number;
  }

  /**
   * The cost of a server that has nothing to do.
   *
   * @param cores of the server and PostgreSQL
   */
  record IdleCost(double statementsPerSecond, double cores) {}

  IdleCost idle() {
    // Starts the worker, which then keeps polling.
    contender.run(Scenario.W0, Load.of(1, 1));
    pause(sizes.idle());
    CpuWatch watch = new CpuWatch(contender);
    long before = contender.server().statements();
    pause(sizes.idle());
    CpuWatch.Cores cores = watch.cores();
    double statements = contender.server().statements() - before;
    return new IdleCost(
        statements * 1_000 / sizes.idle().toMillis(),
        cores.server().orElse(0) + cores.postgres().orElse(0));
  }

  private static void await(CountDownLatch asleep) {
    try {
      if (!asleep.await(WAKE_UP_MAX.toSeconds(), TimeUnit.SECONDS)) {
        throw new BenchException(
            "sleeping runs: %d after %s (expected: 0)".formatted(asleep.getCount(), WAKE_UP_MAX));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }

  private static void pause(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }

  private static WorkflowType<Integer, String> steps(String queue) {
    return WorkflowType.of("bench-five", Integer.class, String.class).queue(queue);
  }

  private static String fiveSteps(WorkflowContext ctx, Integer steps) {
    for (int i = 0; i < steps; i++) {
      ctx.step("s", String.class, () -> STEP_RESULT);
    }
    return DONE;
  }

  private <I> double rate(int inFlight, int runs, WorkflowType<I, String> type, Supplier<I> input) {
    return Callers.drive(
            Load.of(Math.min(inFlight, runs), runs),
            () -> kagzi.workflow(type).start(input.get()).result(),
            progress)
        .runsPerSecond();
  }

  private <T> T with(List<String> queues, Consumer<WorkerBuilder> code, Supplier<T> measurement) {
    WorkerBuilder builder = kagzi.worker(queues.toArray(String[]::new)).drainOnShutdown(false);
    code.accept(builder);
    try (Worker worker = builder.start()) {
      KagziContender.awaitRegistered(worker);
      return measurement.get();
    }
  }
}
