package dev.kagzi.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;

/** Threads that put a load on a system, one for each run in flight. */
final class Callers {
  private static final long PROGRESS_SECONDS = 10;

  private final Load load;
  private final Callable<?> run;
  private final AtomicInteger started = new AtomicInteger();
  private final AtomicInteger done = new AtomicInteger();
  private final long beganNanos = System.nanoTime();

  private Callers(Load load, Callable<?> run) {
    this.load = load;
    this.run = run;
  }

  /**
   * Executes the load.
   *
   * @param run starts one run and returns when its result has arrived; called by many threads
   */
  static Outcome drive(Load load, Callable<?> run, Progress progress) {
    return new Callers(load, run).drive(progress);
  }

  private Outcome drive(Progress progress) {
    List<Future<long[]>> callers = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < load.inFlight(); i++) {
        callers.add(threads.submit(this::call));
      }
      List<long[]> latencies = new ArrayList<>();
      for (Future<long[]> caller : callers) {
        latencies.add(await(caller, progress));
      }
      long elapsedNanos = System.nanoTime() - beganNanos;
      return Outcome.of(elapsedNanos, latencies.stream().flatMapToLong(LongStream::of).toArray());
    }
  }

  private long[] call() throws Exception {
    LongStream.Builder latencies = LongStream.builder();
    while (started.getAndIncrement() < load.runsMax()
        && System.nanoTime() - beganNanos < load.timeMax().toNanos()) {
      long startNanos = System.nanoTime();
      run.call();
      latencies.add(System.nanoTime() - startNanos);
      done.incrementAndGet();
    }
    return latencies.build().toArray();
  }

  private long[] await(Future<long[]> caller, Progress progress) {
    try {
      while (true) {
        try {
          return caller.get(PROGRESS_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException stillRunning) {
          progress.print("  %,d runs so far".formatted(done.get()));
        }
      }
    } catch (ExecutionException e) {
      started.set(load.runsMax());
      throw new BenchException("a run failed: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }
}
