package dev.kagzi.sdk.internal.worker;

import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.RepeatLimiter;
import dev.kagzi.sdk.internal.metrics.ClientMetrics;
import dev.kagzi.sdk.internal.run.RunExecution;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.Payloads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The public {@link Worker}: one {@link QueueWorker} per queue. */
public final class WorkerGroup implements Worker {
  private static final EventLog log = EventLog.of(WorkerGroup.class);
  private static final long TICK_MS = 50;

  private final List<QueueWorker> workers;
  private final ScheduledFuture<?> tickTimer;
  private final @Nullable Thread shutdownHook;

  private WorkerGroup(
      List<QueueWorker> workers, ScheduledFuture<?> tickTimer, boolean drainOnShutdown) {
    this.workers = workers;
    this.tickTimer = tickTimer;
    this.shutdownHook =
        drainOnShutdown
            ? Thread.ofPlatform().name("kagzi-shutdown").unstarted(this::drainForShutdown)
            : null;
  }

  public static WorkerGroup start(
      Connection connection,
      Payloads payloads,
      ClientMetrics metrics,
      List<WorkerSettings> settings,
      boolean drainOnShutdown) {
    List<QueueWorker> workers =
        settings.stream()
            .map(each -> new QueueWorker(connection, payloads, metrics, each))
            .toList();
    RepeatLimiter failures = new RepeatLimiter();
    ScheduledFuture<?> tickTimer =
        connection.every(TICK_MS, "timeout checks", () -> tick(workers, failures));
    WorkerGroup group = new WorkerGroup(workers, tickTimer, drainOnShutdown);
    group.addShutdownHook();
    workers.forEach(QueueWorker::start);
    return group;
  }

  private static void tick(List<QueueWorker> workers, RepeatLimiter failures) {
    long now = System.nanoTime();
    for (QueueWorker worker : workers) {
      for (RunExecution run : worker.executions()) {
        tick(run, now, failures);
      }
    }
  }

  private static void tick(RunExecution run, long now, RepeatLimiter failures) {
    try {
      run.tick(now);
    } catch (Throwable e) {
      // One run must not keep the others from being checked.
      String what = "timeout check of a run failed, it will be repeated";
      (failures.isNew(e.getClass().getName()) ? log.error(what) : log.debug(what))
          .about(run.logged())
          .cause(e)
          .write();
    }
  }

  private void addShutdownHook() {
    if (shutdownHook != null) {
      Runtime.getRuntime().addShutdownHook(shutdownHook);
    }
  }

  private void drainForShutdown() {
    log.info("process is ending, draining the worker").with("workers", workerIds()).write();
    shutdown();
    try {
      awaitTermination();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public String workerId() {
    return workers.getFirst().session().workerId();
  }

  @Override
  public List<String> workerIds() {
    return workers.stream()
        .map(QueueWorker::session)
        .filter(WorkerSession::isRegistered)
        .map(WorkerSession::workerId)
        .toList();
  }

  @Override
  public boolean isRegistered() {
    return workers.stream().allMatch(worker -> worker.session().isRegistered());
  }

  @Override
  public boolean isConnected() {
    return workers.stream().allMatch(QueueWorker::isConnected);
  }

  @Override
  public boolean awaitRegistered(Duration timeout) throws InterruptedException {
    long untilNanos = System.nanoTime() + timeout.toNanos();
    for (QueueWorker worker : workers) {
      if (!worker.session().await(untilNanos - System.nanoTime())) {
        return false;
      }
    }
    return true;
  }

  @Override
  public int activeCount() {
    return workers.stream().mapToInt(QueueWorker::activeCount).sum();
  }

  @Override
  public int stuckCount() {
    return workers.stream().mapToInt(QueueWorker::stuckCount).sum();
  }

  @Override
  public void shutdown() {
    workers.forEach(worker -> worker.drain().begin());
  }

  @Override
  public void awaitTermination() throws InterruptedException {
    for (QueueWorker worker : workers) {
      worker.drain().ended().await();
    }
    terminated();
  }

  @Override
  public boolean awaitTermination(Duration timeout) throws InterruptedException {
    long untilNanos = System.nanoTime() + timeout.toNanos();
    for (QueueWorker worker : workers) {
      if (!worker.drain().ended().await(untilNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        return false;
      }
    }
    terminated();
    return true;
  }

  @Override
  public void close() {
    shutdown();
    boolean interrupted = false;
    while (true) {
      try {
        awaitTermination();
        break;
      } catch (InterruptedException e) {
        // Keep waiting: the drain is bounded by its own timeout and releases the running runs.
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void terminated() {
    tickTimer.cancel(false);
    if (shutdownHook != null && !shutdownHook.equals(Thread.currentThread())) {
      try {
        Runtime.getRuntime().removeShutdownHook(shutdownHook);
      } catch (IllegalStateException e) {
        // The JVM is shutting down: the hook has run or is running.
        log.debug("shutdown hook not removed, the process is ending")
            .with("workers", workerIds())
            .cause(e)
            .write();
      }
    }
  }
}
