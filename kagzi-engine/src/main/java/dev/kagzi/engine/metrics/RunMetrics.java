package dev.kagzi.engine.metrics;

import dev.kagzi.engine.value.RunStatus;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** Counts what happens to runs. Call it after the commit. Thread-safe. */
public final class RunMetrics {
  private final MeterRegistry registry;
  private final BoundedMeters<TypeMeters> types;
  private final Map<String, Counter> lostClaims = new ConcurrentHashMap<>();
  private final Counter messages;
  private final Counter endsRead;
  private final Timer scheduleLateness;

  RunMetrics(MeterRegistry registry, BoundedLabels types) {
    this.registry = registry;
    this.types = new BoundedMeters<>(types, tags -> new TypeMeters(registry, tags));
    this.messages =
        Counter.builder("kagzi.run.messages")
            .description("Messages from one run to another, such as the end of a child")
            .register(registry);
    this.endsRead =
        Counter.builder("kagzi.run.ends.read")
            .description("Awaited runs that this server read from the database")
            .register(registry);
    this.scheduleLateness =
        Buckets.of(Timer.builder("kagzi.schedule.lateness"))
            .description("Time from a schedule's slot, with its jitter, to the commit of its run")
            .register(registry);
  }

  private static final class TypeMeters {
    private final Counter started;
    private final Map<RunStatus, Counter> ended = new EnumMap<>(RunStatus.class);
    private final Counter runRetries;
    private final Counter stepRetries;
    private final Counter crashes;
    private final Counter signalsSent;
    private final Counter signalsReceived;

    TypeMeters(MeterRegistry registry, Tags tags) {
      started = counter("kagzi.runs.started", "Runs that were started", tags).register(registry);
      for (RunStatus status : RunStatus.values()) {
        if (status.isFinal()) {
          ended.put(
              status,
              counter("kagzi.runs.ended", "Runs that ended, by status", tags)
                  .tag("status", status.name().toLowerCase(Locale.ROOT))
                  .register(registry));
        }
      }
      runRetries =
          counter("kagzi.run.retries", "Attempts of whole runs after a failure", tags)
              .register(registry);
      stepRetries =
          counter("kagzi.step.retries", "Attempts of steps after a failure", tags)
              .register(registry);
      crashes =
          counter("kagzi.run.crashes", "Claims that ended because their worker died", tags)
              .register(registry);
      signalsSent =
          counter("kagzi.signals.sent", "Signals that were stored", tags).register(registry);
      signalsReceived =
          counter("kagzi.signals.received", "Signals that code has received", tags)
              .register(registry);
    }

    private static Counter.Builder counter(String name, String description, Tags tags) {
      return Counter.builder(name).description(description).tags(tags);
    }
  }

  public void started(String namespace, String type) {
    types.of(namespace, type).started.increment();
  }

  public void ended(String namespace, String type, RunStatus status) {
    Counter counter = types.of(namespace, type).ended.get(status);
    if (counter != null) {
      counter.increment();
    }
  }

  public void runRetried(String namespace, String type) {
    types.of(namespace, type).runRetries.increment();
  }

  public void stepRetried(String namespace, String type) {
    types.of(namespace, type).stepRetries.increment();
  }

  public void signalSent(String namespace, String type) {
    types.of(namespace, type).signalsSent.increment();
  }

  public void signalReceived(String namespace, String type) {
    types.of(namespace, type).signalsReceived.increment();
  }

  /**
   * A claim was taken from its worker.
   *
   * @param reason one of a fixed set of words
   */
  public void claimLost(String namespace, String type, String reason, boolean crash) {
    lostClaims
        .computeIfAbsent(
            reason,
            name ->
                Counter.builder("kagzi.claims.lost")
                    .description("Claims that were taken from their worker, by reason")
                    .tag("reason", name.toLowerCase(Locale.ROOT))
                    .register(registry))
        .increment();
    if (crash) {
      types.of(namespace, type).crashes.increment();
    }
  }

  public void messagePosted() {
    messages.increment();
  }

  public void endsRead(int runs) {
    endsRead.increment(runs);
  }

  public void slotFired(long lateMs) {
    scheduleLateness.record(lateMs, TimeUnit.MILLISECONDS);
  }
}
