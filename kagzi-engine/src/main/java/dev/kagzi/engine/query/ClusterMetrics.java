package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.DatabaseFailureLog;
import dev.kagzi.engine.metrics.BoundedLabels;
import dev.kagzi.engine.metrics.LabelledGauge;
import dev.kagzi.engine.metrics.Meters;
import dev.kagzi.engine.value.Refusal;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Tags;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The gauges about the queues and workers of all servers. {@link #refresh} reads them from the
 * database, at most every ten seconds. Thread-safe.
 */
public final class ClusterMetrics {
  private static final Logger log = LoggerFactory.getLogger(ClusterMetrics.class);
  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long KNOWN_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long WAIT_MS_MAX = 2_000;

  private final Database database;
  private final BoundedLabels labels;
  private final LabelledGauge runs;
  private final LabelledGauge oldestDue;
  private final LabelledGauge workers;
  private final LabelledGauge slots;
  private final Counter failedReads;
  private volatile boolean isFailureLogged;
  private @Nullable Long readNanos;
  private @Nullable CompletableFuture<Void> reading;

  public ClusterMetrics(Database database, Meters meters) {
    this.database = database;
    this.labels = meters.queueLabels();
    this.runs = meters.labelled("kagzi.queue.runs", "Open runs of a queue, by status");
    this.oldestDue =
        meters.labelled(
            "kagzi.queue.oldest.due.seconds", "Since when the oldest due run of a queue waits");
    this.workers = meters.labelled("kagzi.queue.workers", "Workers of a queue, by status");
    this.slots = meters.labelled("kagzi.queue.slots", "Slots of the workers of a queue, by state");
    this.failedReads =
        Counter.builder("kagzi.cluster.reads.failed")
            .description("Failed reads of the gauges about queues and workers")
            .register(meters.registry());
  }

  /**
   * Reads the gauges again if they are older than ten seconds. Waits at most two seconds, so that a
   * slow database does not keep the other metrics from being read. Values that are older than a
   * minute become NaN.
   */
  public void refresh() {
    CompletableFuture<Void> started = startReading();
    try {
      started.get(WAIT_MS_MAX, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException slow) {
      // The values of this read are shown when it ends.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    dropOldValues();
  }

  private synchronized CompletableFuture<Void> startReading() {
    if (reading != null && !reading.isDone()) {
      return reading;
    }
    if (readNanos != null && System.nanoTime() - readNanos < FRESH_NANOS) {
      return CompletableFuture.completedFuture(null);
    }
    CompletableFuture<Void> started = new CompletableFuture<>();
    reading = started;
    Thread.ofVirtual()
        .name("kagzi-cluster-metrics")
        .start(
            () -> {
              try {
                read();
              } finally {
                started.complete(null);
              }
            });
    return started;
  }

  void read() {
    try {
      show(database.readForUser(ClusterState::read));
      isFailureLogged = false;
    } catch (Refusal refusal) {
      failed(refusal);
    } catch (RuntimeException | Error bug) {
      failed(bug);
      throw bug;
    }
  }

  /** Logs the first failure of several in a row. The database logs its own outages. */
  void failed(Throwable cause) {
    failedReads.increment();
    if (!isFailureLogged && !DatabaseFailureLog.isLogged(cause)) {
      isFailureLogged = true;
      log.atWarn()
          .addKeyValue("cause", cause.getMessage())
          .log("the gauges of the cluster could not be read; they keep their values for a minute");
    }
  }

  private synchronized void dropOldValues() {
    if (readNanos != null && System.nanoTime() - readNanos > KNOWN_NANOS) {
      runs.setUnknown();
      oldestDue.setUnknown();
      workers.setUnknown();
      slots.setUnknown();
    }
  }

  private synchronized void show(ClusterState state) {
    Map<Tags, Double> runsNow = new HashMap<>();
    Map<Tags, Double> oldestNow = new HashMap<>();
    for (ClusterState.Queue queue : state.queues()) {
      Tags tags = labels.of(queue.namespace(), queue.name());
      runsNow.merge(tags.and("status", "pending"), (double) queue.pending(), Double::sum);
      runsNow.merge(tags.and("status", "running"), (double) queue.running(), Double::sum);
      runsNow.merge(tags.and("status", "sleeping"), (double) queue.sleeping(), Double::sum);
      oldestNow.merge(tags, seconds(queue.oldestDueMs()), ClusterMetrics::longest);
    }
    runs.set(runsNow);
    oldestDue.set(oldestNow);
    showWorkers(state);
    readNanos = System.nanoTime();
  }

  private static double seconds(@Nullable Long ms) {
    return ms == null ? Double.NaN : ms / 1_000.0;
  }

  /**
   * Returns the longer of the times of two queues that share a label. NaN is an unknown time: the
   * result is unknown if one time is unknown and the other is zero.
   */
  static double longest(double one, double other) {
    return one > 0 || other > 0
        ? Math.max(Double.isNaN(one) ? 0 : one, Double.isNaN(other) ? 0 : other)
        : one + other;
  }

  private void showWorkers(ClusterState state) {
    Map<Tags, Double> workersNow = new HashMap<>();
    Map<Tags, Double> slotsNow = new HashMap<>();
    for (ClusterState.Workers group : state.workers()) {
      Tags tags = labels.of(group.namespace(), group.queue());
      String status = group.status().name().toLowerCase(Locale.ROOT);
      workersNow.merge(tags.and("status", status), (double) group.workers(), Double::sum);
      slotsNow.merge(tags.and("state", "used"), (double) group.used(), Double::sum);
      slotsNow.merge(tags.and("state", "free"), (double) group.free(), Double::sum);
    }
    workers.set(workersNow);
    slots.set(slotsNow);
  }
}
