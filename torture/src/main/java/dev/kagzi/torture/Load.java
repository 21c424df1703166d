package dev.kagzi.torture;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.KagziException;
import dev.kagzi.sdk.RunCancelledException;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.ServerUnavailableException;
import dev.kagzi.torture.LedgerEntry.Author;
import dev.kagzi.torture.LedgerEntry.Event;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The client: a number of callers, each with one run after the other, that write to their ledger
 * what they are told. Thread-safe.
 */
final class Load implements AutoCloseable {
  private static final Duration CALL_MAX = Duration.ofSeconds(60);

  private final Kagzi kagzi;
  private final Ledger ledger;
  private final List<Scenario> scenarios;
  private final long seed;
  private final CountDownLatch callersLeft;
  private final AtomicInteger started = new AtomicInteger();
  private final Queue<Long> results = new ConcurrentLinkedQueue<>();
  private final Queue<String> troubles = new ConcurrentLinkedQueue<>();
  private volatile boolean stopped;

  private Load(Settings settings, Kagzi kagzi, Ledger ledger) {
    this.kagzi = kagzi;
    this.ledger = ledger;
    this.scenarios = settings.scenarios;
    this.seed = settings.seed;
    this.callersLeft = new CountDownLatch(settings.callers);
  }

  /**
   * @param scenarios of which each run is one
   * @param pace what a caller does between two runs
   */
  record Settings(List<Scenario> scenarios, long seed, int callers, Duration pace) {
    Settings {
      scenarios = List.copyOf(scenarios);
    }
  }

  static Load start(Settings settings, String addresses, Path folder) {
    Kagzi kagzi = Kagzi.builder().address(addresses).callTimeout(CALL_MAX).connect();
    Load load = new Load(settings, kagzi, Ledger.open(folder, "client"));
    for (int i = 0; i < settings.callers; i++) {
      Thread.ofVirtual().name("caller-" + i).start(() -> load.call(settings.pace));
    }
    return load;
  }

  /** No more runs are started. */
  void stop() {
    stopped = true;
  }

  /** Waits until the results of all runs have been received; false if the time ended first. */
  boolean awaitResults(Duration timeout) {
    try {
      return callersLeft.await(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      throw TortureException.interrupted(e);
    }
  }

  /** When each result was received, by the monotonic clock. */
  List<Long> resultNanos() {
    return List.copyOf(results);
  }

  int resultCount() {
    return results.size();
  }

  /** What went wrong with the client itself. */
  List<String> troubles() {
    return List.copyOf(troubles);
  }

  private void call(Duration pace) {
    try {
      while (!stopped) {
        int number = started.incrementAndGet();
        oneRun(number);
        // Varied, or callers that were all held up by the same fault would go on in step.
        Pause.of(pace.dividedBy(2).plus(pace.multipliedBy(number % 11).dividedBy(10)));
      }
    } catch (RuntimeException | InterruptedException e) {
      troubles.add("client: " + e);
    } finally {
      callersLeft.countDown();
    }
  }

  private void oneRun(int number) throws InterruptedException {
    String input = Long.toHexString(seed) + "-" + number;
    Random random = new Random(seed * 31 + number);
    Scenario scenario = scenarios.get(random.nextInt(scenarios.size()));
    write(Event.START, "", scenario.name(), input);
    RunHandle<String> run;
    try {
      run = kagzi.workflow(scenario.type()).start(input);
    } catch (ServerUnavailableException e) {
      // Nothing was acknowledged. If the run exists all the same, it has to end as the others.
      return;
    }
    write(Event.STARTED, run.runId(), scenario.name(), input);
    Duration cancelAfter = scenario.cancelAfter(random).orElse(null);
    if (cancelAfter != null) {
      Pause.of(cancelAfter);
      cancel(run);
    }
    awaitResult(run);
  }

  private void cancel(RunHandle<String> run) {
    try {
      write(Event.CANCELLED, run.runId(), "", Boolean.toString(run.cancel()));
    } catch (ServerUnavailableException e) {
      // Nothing was acknowledged: it may end either way.
      write(Event.CANCELLED, run.runId(), "", "unknown");
    }
  }

  private void awaitResult(RunHandle<String> run) {
    try {
      write(Event.RESULT, run.runId(), "COMPLETED", run.result());
    } catch (RunCancelledException e) {
      write(Event.RESULT, run.runId(), "CANCELLED", "");
    } catch (RunFailedException e) {
      write(Event.RESULT, run.runId(), e.status().name(), e.failure().message());
    }
    results.add(System.nanoTime());
  }

  private void write(Event event, String runId, String what, String value) {
    ledger.write(event, runId, Author.client(), what, 0, value);
  }

  @Override
  public void close() {
    stopped = true;
    try {
      kagzi.close();
    } catch (KagziException e) {
      troubles.add("client: " + e);
    }
    ledger.close();
  }
}
