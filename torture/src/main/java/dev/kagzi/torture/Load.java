package dev.kagzi.torture;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.KagziException;
import dev.kagzi.torture.ClientRun.ClientContext;
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
 * The client: a number of callers, each with one run after the other. They write all answers to a
 * ledger. Thread-safe.
 */
final class Load implements AutoCloseable {
  private static final Duration CALL_MAX = Duration.ofSeconds(60);

  private final ClientContext context;
  private final List<Scenario> scenarios;
  private final long seed;
  private final CountDownLatch callersLeft;
  private final AtomicInteger started = new AtomicInteger();
  private final Queue<Long> results = new ConcurrentLinkedQueue<>();
  private final Queue<String> errors = new ConcurrentLinkedQueue<>();
  private volatile boolean stopped;

  private Load(Settings settings, ClientContext context) {
    this.context = context;
    this.scenarios = settings.scenarios;
    this.seed = settings.seed;
    this.callersLeft = new CountDownLatch(settings.callers);
  }

  /**
   * @param scenarios the scenarios from which each run is chosen
   * @param pace the average pause of a caller between two runs
   */
  record Settings(List<Scenario> scenarios, long seed, int callers, Duration pace) {
    Settings {
      scenarios = List.copyOf(scenarios);
    }
  }

  /**
   * @param addresses the addresses of the servers
   * @param otherAddresses the same addresses in another order
   */
  static Load start(Settings settings, String addresses, String otherAddresses, Path folder) {
    ClientContext context =
        new ClientContext(
            connect(addresses),
            connect(otherAddresses),
            Ledger.open(folder, "client"),
            Repairs.in(folder));
    Load load = new Load(settings, context);
    for (int i = 0; i < settings.callers; i++) {
      Thread.ofVirtual().name("caller-" + i).start(() -> load.call(settings.pace));
    }
    return load;
  }

  private static Kagzi connect(String addresses) {
    return Kagzi.builder().address(addresses).callTimeout(CALL_MAX).connect();
  }

  /** Starts no more runs. */
  void stop() {
    stopped = true;
  }

  /** Waits until the results of all runs are received; false at the time-out. */
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

  /** Errors of the client itself. */
  List<String> errors() {
    return List.copyOf(errors);
  }

  private void call(Duration pace) {
    try {
      while (!stopped) {
        int number = started.incrementAndGet();
        oneRun(number);
        // Varied, so that callers that were all delayed by the same fault do not continue in step.
        Pause.of(pace.dividedBy(2).plus(pace.multipliedBy(number % 11).dividedBy(10)));
      }
    } catch (RuntimeException | InterruptedException e) {
      errors.add("client: " + e);
    } finally {
      callersLeft.countDown();
    }
  }

  private void oneRun(int number) throws InterruptedException {
    String input = Long.toHexString(seed) + "-" + number;
    Random random = new Random(seed * 31 + number);
    Scenario scenario = scenarios.get(random.nextInt(scenarios.size()));
    if (new ClientRun(context, scenario, input, random).run()) {
      results.add(System.nanoTime());
    }
  }

  @Override
  public void close() {
    stopped = true;
    try {
      context.kagzi().close();
      context.other().close();
    } catch (KagziException e) {
      errors.add("client: " + e);
    }
    context.ledger().close();
  }
}
