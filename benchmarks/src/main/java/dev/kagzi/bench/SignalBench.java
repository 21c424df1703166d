package dev.kagzi.bench;

import dev.kagzi.bench.Contender.Counters;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Measures signals: how long one takes from its sender to the code of a parked run, one at a time,
 * and how many per second are sent and received.
 */
final class SignalBench {
  static final int SIGNALS_DEFAULT = 20_000;

  private static final int LATENCY_RUNS = 500;
  private static final int WARM_UP_RUNS = 500;
  private static final int SIGNALS_PER_RUN = 20;
  private static final List<Integer> SENDERS = List.of(64, 256, 1024);
  private static final int WARM_UP_SIGNALS = 10_000;
  private static final int WARM_UPS_MIN = 4;
  private static final int WARM_UPS_MAX = 8;
  private static final double WARM_UP_GAIN_MIN = 1.05;
  private static final double LATENCY_TARGET_MS = 10;
  private static final double RATE_TARGET = 5_000;
  private static final double NANOS_PER_SECOND = 1e9;
  private static final long POLL_NANOS = 1_000_000;
  private static final Duration REGISTER_MAX = Duration.ofSeconds(30);

  private static final Signal<String> SIGNAL = Signal.of("signal", String.class);
  private static final WorkflowType<Integer, String> RECEIVER =
      WorkflowType.of("bench-receiver", Integer.class, String.class).queue("bench-signals");

  private final KagziContender contender;
  private final Kagzi kagzi;
  private final Progress progress;
  private final int signals;

  /** When the code of each run has received its last signal. */
  private final Map<String, Long> receivedNanos = new ConcurrentHashMap<>();

  SignalBench(KagziContender contender, Progress progress, int signals) {
    this.contender = contender;
    this.kagzi = contender.kagzi();
    this.progress = progress;
    this.signals = signals;
  }

  Map<String, @Nullable Object> measure() {
    int slots = Collections.max(SENDERS);
    try (Worker worker =
        kagzi
            .worker()
            .workflow(RECEIVER, this::receive)
            .maxConcurrent(slots)
            .drainOnShutdown(false)
            .start()) {
      if (!worker.awaitRegistered(REGISTER_MAX)) {
        throw new BenchException("the worker is not registered after " + REGISTER_MAX);
      }
      print("warming up");
      latencies(WARM_UP_RUNS);
      print(LATENCY_RUNS + " signals, one at a time, to parked runs");
      Latency latency = Latency.of("signal to code", latencies(LATENCY_RUNS), LATENCY_TARGET_MS);
      int senders = warmUpAndChoose();
      contender.database().server().checkpoint(progress);
      print("%,d signals by %d senders".formatted(signals, senders));
      List<RunHandle<String>> runs = parked(signals);
      Counters before = contender.counters();
      CpuWatch cpu = new CpuWatch(contender);
      Rate rate = rate(runs, senders);
      CpuWatch.Cores cores = cpu.cores();
      double statements = contender.counters().statements() - before.statements();
      Map<String, @Nullable Object> figures = new LinkedHashMap<>();
      figures.put("scenario", Scenario.SIGNAL.name());
      figures.put("signals", signals);
      figures.put("senders", senders);
      figures.put("signals_per_s", Math.round(rate.received));
      figures.put("signals_per_s_target", Math.round(RATE_TARGET));
      figures.put("accepted_per_s", Math.round(rate.accepted));
      figures.put("statements_per_signal", Figures.rounded(statements / signals));
      figures.put("client_cpu", Figures.rounded(cores.client().orElse(0)));
      figures.put("server_cpu", Figures.rounded(cores.server().orElse(0)));
      figures.put("postgres_cpu", Figures.rounded(cores.postgres().orElse(0)));
      figures.put("to_code_p50_ms", Math.round(latency.p50() * 100) / 100.0);
      figures.put("to_code_p99_ms", Math.round(latency.p99() * 100) / 100.0);
      figures.put("to_code_p50_ms_target", LATENCY_TARGET_MS);
      figures.put("met", latency.isMet() && rate.received >= RATE_TARGET);
      return figures;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }

  private String receive(WorkflowContext ctx, Integer count) {
    for (int i = 0; i < count; i++) {
      String unused = ctx.receive(SIGNAL);
    }
    receivedNanos.put(ctx.runId(), System.nanoTime());
    return "ok";
  }

  private long[] latencies(int runs) {
    List<RunHandle<String>> parked = start(runs, 1);
    parked.forEach(SignalBench::awaitParked);
    long[] nanos = new long[runs];
    for (int i = 0; i < runs; i++) {
      RunHandle<String> run = parked.get(i);
      long sent = System.nanoTime();
      run.signal(SIGNAL, "x");
      run.result();
      Long received = receivedNanos.remove(run.runId());
      if (received == null) {
        throw new BenchException("run " + run.runId() + " ended without its signal");
      }
      nanos[i] = received - sent;
    }
    return nanos;
  }

  /**
   * Repeats until the rate no longer rises, so that no JIT compilation is measured; then returns
   * the number of senders with the highest rate.
   */
  private int warmUpAndChoose() {
    print("warming up with many senders");
    double best = 0;
    for (int i = 0; i < WARM_UPS_MAX; i++) {
      double rate = rate(parked(Math.min(signals, WARM_UP_SIGNALS)), SENDERS.get(1)).received;
      if (i + 1 >= WARM_UPS_MIN && rate < best * WARM_UP_GAIN_MIN) {
        break;
      }
      best = Math.max(best, rate);
    }
    contender.database().vacuum();
    int chosen = SENDERS.getFirst();
    best = 0;
    for (int senders : SENDERS) {
      double rate = rate(parked(Math.min(signals, WARM_UP_SIGNALS)), senders).received;
      print("%,.0f signals/s by %d senders".formatted(rate, senders));
      if (rate > best) {
        best = rate;
        chosen = senders;
      }
    }
    return chosen;
  }

  /** Signals per second until all are durable, and until the code has received all. */
  private record Rate(double accepted, double received) {}

  /** Starts as many runs as receive this number of signals, and waits until they are parked. */
  private List<RunHandle<String>> parked(int count) {
    List<RunHandle<String>> runs = start(Math.max(1, count / SIGNALS_PER_RUN), SIGNALS_PER_RUN);
    runs.forEach(SignalBench::awaitParked);
    return runs;
  }

  private Rate rate(List<RunHandle<String>> runs, int senders) {
    int all = runs.size() * SIGNALS_PER_RUN;
    AtomicInteger next = new AtomicInteger();
    long begun = System.nanoTime();
    List<CompletableFuture<Void>> sending = new ArrayList<>();
    for (int i = 0; i < senders; i++) {
      sending.add(
          CompletableFuture.runAsync(
              () -> {
                for (int n = next.getAndIncrement(); n < all; n = next.getAndIncrement()) {
                  runs.get(n % runs.size()).signal(SIGNAL, "x");
                }
              },
              Thread.ofVirtual()::start));
    }
    sending.forEach(CompletableFuture::join);
    long acceptedNanos = System.nanoTime() - begun;
    runs.forEach(RunHandle::result);
    long allNanos = System.nanoTime() - begun;
    receivedNanos.clear();
    return new Rate(all * NANOS_PER_SECOND / acceptedNanos, all * NANOS_PER_SECOND / allNanos);
  }

  private List<RunHandle<String>> start(int runs, int signalsPerRun) {
    List<Integer> inputs = new ArrayList<>(runs);
    for (int i = 0; i < runs; i++) {
      inputs.add(signalsPerRun);
    }
    return kagzi.workflow(RECEIVER).startAll(inputs);
  }

  private static void awaitParked(RunHandle<String> run) {
    while (run.status() != RunStatus.SLEEPING) {
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  private void print(String text) {
    progress.print(contender.name() + " " + Scenario.SIGNAL + ": " + text);
  }
}
