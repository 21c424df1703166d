package dev.kagzi.sdk.internal.worker;

import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.run.RunExecution;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.Payloads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A worker as the application sees it: one queue's worker for each of its queues. */
public final class WorkerGroup implements Worker {
  private static final EventLog log = EventLog.of(WorkerGroup.class);
  private static final long TICK_MS = 50;

  private final List<QueueWorker> workers;
  private final ScheduledFuture<?> ticks;
  private final @Nullable Thread shutdownHook;

  private WorkerGroup(
      List<QueueWorker> workers, ScheduledFuture<?> ticks, boolean drainOnShutdown) {
    this.workers = workers;
    this.ticks = ticks;
    this.shutdownHook =
        drainOnShutdown
            ? Thread.ofPlatform().name("kagzi-shutdown").unstarted(this::drainForShutdown)
            : null;
  }

  /** Starts one worker per settings, each for a queue of its own. */
  public static WorkerGroup start(
      Connection connection,
      Payloads payloads,
      List<WorkerSettings> settings,
      boolean drainOnShutdown) {
    List<QueueWorker> workers =
        settings.stream().map(each -> new QueueWorker(connection, payloads, each)).toList();
    ScheduledFuture<?> ticks =
        connection
            .timers()
            .scheduleWithFixedDelay(() -> tick(workers), TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
    WorkerGroup group = new WorkerGroup(workers, ticks, drainOnShutdown);
    group.addShutdownHook();
    workers.forEach(QueueWorker::start);
    return group;
  }

  private static void tick(List<QueueWorker> workers) {
    long now = System.nanoTime();
    for (QueueWorker worker : workers) {
      for (RunExecution run : worker.executions()) {
        tick(run, now);
      }
    }
  }

  private static void tick(RunExecution run, long now) {
    try {
      run.tick(now);
    } catch (RuntimeException e) {
      // A timer that throws once is never called again, and would leave all other runs without it.
      log.error("tick failed").with("run", run.runId()).cause(e).write();
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
    return workers.getFirst().registration().workerId();
  }

  @Override
  public List<String> workerIds() {
    return workers.stream()
        .map(QueueWorker::registration)
        .filter(WorkerSession::isRegistered)
        .map(WorkerSession::workerId)
        .toList();
  }

  @Override
  public boolean isRegistered() {
    return workers.stream().allMatch(worker -> worker.registration().isRegistered());
  }

  @Override
  public boolean isConnected() {
    return workers.stream().allMatch(QueueWorker::isConnected);
  }

  @Override
  public boolean awaitRegistered(Duration timeout) throws InterruptedException {
    long untilNanos = System.nanoTime() + timeout.toNanos();
    for (QueueWorker worker : workers) {
      if (!worker.registration().await(untilNanos - System.nanoTime())) {
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
        // Asked to hurry: what is running is given back by the drain itself, which is bounded.
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void terminated() {
    ticks.cancel(false);
    if (shutdownHook != null && !shutdownHook.equals(Thread.currentThread())) {
      try {
        Runtime.getRuntime().removeShutdownHook(shutdownHook);
      } catch (IllegalStateException e) {
        // The process is ending: the hook has run or is running.
        log.debug("shutdown hook not removed, the process is ending")
            .with("workers", workerIds())
            .cause(e)
            .write();
      }
    }
  }
}
