package dev.kagzi.bench;

import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.AdminServiceGrpc.AdminServiceBlockingStub;
import dev.kagzi.protocol.v1.BeginStepRequest;
import dev.kagzi.protocol.v1.BeginStepResponse;
import dev.kagzi.protocol.v1.CompleteStepRequest;
import dev.kagzi.protocol.v1.CompleteWorkflowRequest;
import dev.kagzi.protocol.v1.DeregisterRequest;
import dev.kagzi.protocol.v1.HealthCheckRequest;
import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.PollTaskRequest;
import dev.kagzi.protocol.v1.PollTaskResponse;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkerServiceGrpc.WorkerServiceBlockingStub;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import io.grpc.ManagedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Measures the latencies of single calls, one at a time, against their targets, and the overhead of
 * parallel steps.
 */
final class LatencyBench {
  static final int CALLS_DEFAULT = 1_000;

  private static final List<Integer> BRANCHES = List.of(1, 10, 100, 1_000);
  private static final int PARALLEL_REPETITIONS_MAX = 5;
  private static final Duration STEP = Duration.ofSeconds(1);
  private static final int REPLAYED_STEPS = 100;
  private static final int REPLAYED_RUNS = 20;
  // Longer than the waits during which a worker keeps its claim, so that the run is released and
  // replayed.
  private static final Duration NAP = Duration.ofMillis(1_500);
  private static final Duration REGISTER_MAX = Duration.ofSeconds(30);
  private static final long CALL_SECONDS_MAX = 30;
  private static final String QUEUE = "bench-latencies";

  private static final WorkflowType<String, String> POLLED =
      WorkflowType.of("bench-polled", String.class, String.class).queue(QUEUE);
  private static final WorkflowType<Integer, String> PARALLEL =
      WorkflowType.of("bench-parallel", Integer.class, String.class).queue("bench-parallel");
  private static final WorkflowType<Integer, String> REPLAYED =
      WorkflowType.of("bench-replayed", Integer.class, String.class).queue("bench-parallel");

  private final KagziContender contender;
  private final Kagzi kagzi;
  private final Progress progress;
  private final int calls;

  LatencyBench(KagziContender contender, Progress progress, int calls) {
    this.contender = contender;
    this.kagzi = contender.kagzi();
    this.progress = progress;
    this.calls = calls;
  }

  List<Latency> measure() {
    List<Latency> all = new ArrayList<>();
    ManagedChannel channel = contender.server().openChannel();
    try {
      SimpleWorker worker = new SimpleWorker(channel);
      // Lets the JIT compile the code of the calls below, in this process and in the server.
      print("warming up");
      times(calls, worker::heartbeat);
      worker.measureRuns(warmUpRuns());
      print(calls + " calls of each kind");
      all.addAll(worker.measureRuns(calls));
      all.add(Latency.of("heartbeat", times(calls, worker::heartbeat), 1));
      AdminServiceBlockingStub admin = AdminServiceGrpc.newBlockingStub(channel);
      HealthCheckRequest health = HealthCheckRequest.getDefaultInstance();
      times(warmUpRuns(), () -> admin.healthCheck(health));
      all.add(Latency.of("health check", times(calls, () -> admin.healthCheck(health)), 2));
      worker.leave();
    } finally {
      channel.shutdownNow();
    }
    measureSdk(all);
    return all;
  }

  private int warmUpRuns() {
    return Math.min(calls, CALLS_DEFAULT / 2);
  }

  /** Measures only the start of a run and the poll that claims it, after a warm-up. */
  List<Latency> measureStartAndPoll() {
    ManagedChannel channel = contender.server().openChannel();
    try {
      SimpleWorker worker = new SimpleWorker(channel);
      worker.measureRuns(calls);
      List<Latency> measured = worker.measureRuns(calls);
      worker.leave();
      return measured.subList(0, 2);
    } finally {
      channel.shutdownNow();
    }
  }

  private static long[] times(int calls, Runnable call) {
    long[] nanos = new long[calls];
    for (int i = 0; i < calls; i++) {
      nanos[i] = time(call);
    }
    return nanos;
  }

  private static long time(Runnable call) {
    long begun = System.nanoTime();
    call.run();
    return System.nanoTime() - begun;
  }

  /** A worker that uses the simple protocol, with one run at a time. */
  private final class SimpleWorker {
    private final WorkerServiceBlockingStub workers;
    private final String id;

    SimpleWorker(ManagedChannel channel) {
      this.workers = WorkerServiceGrpc.newBlockingStub(channel);
      this.id =
          stub()
              .register(
                  RegisterRequest.newBuilder()
                      .setNamespace("default")
                      .setTaskQueue(QUEUE)
                      .addWorkflowTypes(POLLED.name())
                      .build())
              .getWorkerId();
    }

    private WorkerServiceBlockingStub stub() {
      return workers.withDeadlineAfter(CALL_SECONDS_MAX, TimeUnit.SECONDS);
    }

    void heartbeat() {
      stub().heartbeat(HeartbeatRequest.newBuilder().setWorkerId(id).setActiveCount(0).build());
    }

    void leave() {
      stub().deregister(DeregisterRequest.newBuilder().setWorkerId(id).build());
    }

    /** Measures the start, the poll, and the replay of a completed step. */
    List<Latency> measureRuns(int runs) {
      long[] starts = new long[runs];
      long[] polls = new long[runs];
      long[] cached = new long[runs];
      for (int i = 0; i < runs; i++) {
        heartbeat();
        starts[i] = time(() -> kagzi.workflow(POLLED).start("in"));
        long begun = System.nanoTime();
        PollTaskResponse task = poll();
        polls[i] = System.nanoTime() - begun;
        cached[i] = execute(task);
      }
      return List.of(
          Latency.of("start", starts, 10),
          Latency.of("poll", polls, 20),
          Latency.of("cached step, BeginStep", cached, 1));
    }

    private PollTaskResponse poll() {
      PollTaskResponse task =
          stub()
              .pollTask(
                  PollTaskRequest.newBuilder()
                      .setNamespace("default")
                      .setWorkerId(id)
                      .setTaskQueue(QUEUE)
                      .addWorkflowTypes(POLLED.name())
                      .build());
      if (task.getRunId().isEmpty()) {
        throw new BenchException("a poll got no task although a run was started");
      }
      return task;
    }

    private long execute(PollTaskResponse task) {
      BeginStepRequest step =
          BeginStepRequest.newBuilder()
              .setNamespace("default")
              .setRunId(task.getRunId())
              .setEpoch(task.getEpoch())
              .setStepName("step")
              .setKind(StepKind.STEP_KIND_FUNCTION)
              .build();
      BeginStepResponse begun = stub().beginStep(step);
      stub()
          .completeStep(
              CompleteStepRequest.newBuilder()
                  .setNamespace("default")
                  .setRunId(task.getRunId())
                  .setEpoch(task.getEpoch())
                  .setStepId(begun.getStepId())
                  .build());
      long nanos = time(() -> stub().beginStep(step));
      stub()
          .completeWorkflow(
              CompleteWorkflowRequest.newBuilder()
                  .setNamespace("default")
                  .setRunId(task.getRunId())
                  .setEpoch(task.getEpoch())
                  .build());
      return nanos;
    }
  }

  private void measureSdk(List<Latency> all) {
    Queue<Long> replays = new ConcurrentLinkedQueue<>();
    try (Worker worker =
        kagzi
            .worker()
            .workflow(PARALLEL, LatencyBench::parallel)
            .workflow(REPLAYED, (ctx, steps) -> replayed(ctx, steps, replays))
            .drainOnShutdown(false)
            .start()) {
      if (!worker.awaitRegistered(REGISTER_MAX)) {
        throw new BenchException("the worker is not registered after " + REGISTER_MAX);
      }
      print("steps of a replay");
      List<RunHandle<String>> runs = new ArrayList<>();
      for (int i = 0; i < REPLAYED_RUNS; i++) {
        runs.add(kagzi.workflow(REPLAYED).start(REPLAYED_STEPS));
      }
      runs.forEach(RunHandle::result);
      long[] cached = replays.stream().mapToLong(nanos -> nanos / REPLAYED_STEPS).toArray();
      all.add(Latency.of("cached step, replay of the SDK", cached, 1));
      for (int branches : BRANCHES) {
        print(branches + " steps of " + STEP.toMillis() + " ms in parallel");
        Runnable run = () -> kagzi.workflow(PARALLEL).start(branches).result();
        run.run();
        all.add(Latency.overhead(branches, times(parallelRepetitions(), run), STEP));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }

  /** Each repetition takes more than a second, so a benchmark with few calls measures only one. */
  private int parallelRepetitions() {
    return Math.clamp(calls / 100, 1, PARALLEL_REPETITIONS_MAX);
  }

  private static String parallel(WorkflowContext ctx, Integer branches) {
    List<Integer> items = IntStream.range(0, branches).boxed().toList();
    ctx.parallel(
        "all", items, (branch, item) -> branch.step("wait", Integer.class, () -> pause(item)));
    return "ok";
  }

  private static Integer pause(Integer item) {
    long untilNanos = System.nanoTime() + STEP.toNanos();
    for (long left = STEP.toNanos(); left > 0; left = untilNanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    return item;
  }

  /** Records how long the steps took in each execution; the last execution is the replay. */
  private static String replayed(WorkflowContext ctx, Integer steps, Queue<Long> replays) {
    long begun = System.nanoTime();
    for (int i = 0; i < steps; i++) {
      ctx.step("s", String.class, () -> "x");
    }
    long nanos = System.nanoTime() - begun;
    ctx.sleep("nap", NAP);
    replays.add(nanos);
    return "ok";
  }

  private void print(String text) {
    progress.print(contender.name() + " " + Scenario.LATENCIES + ": " + text);
  }
}
