package dev.kagzi.sdk.internal.worker;

import dev.kagzi.protocol.v1.DeregisterRequest;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.run.RunExecution;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.UnaryAnswer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Drains the worker of one queue: it takes no new runs, finishes the running ones, and releases the
 * remaining ones after the timeout. Only then does it deregister and stop heartbeats. Thread-safe.
 */
final class Drain {
  private static final EventLog log = EventLog.of(Drain.class);

  /** Time for the server to answer the open poll with the tasks that it claimed for this poll. */
  private static final long POLL_END_MS = 500;

  /** Time for the last reports, and for interrupted code to end. */
  private static final long RELEASE_MS = 5_000;

  private static final long CALL_MS = 2_000;

  private final QueueWorker worker;
  private final Connection connection;
  private final Duration timeout;
  private final AtomicBoolean begun = new AtomicBoolean();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  Drain(QueueWorker worker, Connection connection, Duration timeout) {
    this.worker = worker;
    this.connection = connection;
    this.timeout = timeout;
  }

  boolean hasBegun() {
    return begun.get();
  }

  CountDownLatch ended() {
    return ended;
  }

  void begin() {
    if (begun.compareAndSet(false, true)) {
      worker.session().stopRegistering();
      Thread.ofPlatform().name("kagzi-drain").start(this::run);
    }
  }

  /** Wakes up the drain thread, which waits for the last run to end. */
  void runEnded() {
    if (begun.get()) {
      lock.lock();
      try {
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  private void run() {
    try {
      drainAndDeregister();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      try {
        worker.close();
      } catch (RuntimeException e) {
        log.warn("the worker could not be closed cleanly")
            .with("worker", worker.session().workerId())
            .with("queue", worker.settings().queue())
            .with("error", e.getMessage())
            .cause(e)
            .write();
      } finally {
        // Also after a failure: callers wait for this without a limit.
        ended.countDown();
      }
    }
  }

  private void drainAndDeregister() throws InterruptedException {
    deregister(true);
    worker.notStarted().forEach(RunExecution::releaseUnstarted);
    awaitPollEnd();
    if (!awaitIdle(timeout.toMillis())) {
      releaseRest();
    }
    deregister(false);
    String workerId = worker.session().workerId();
    if (!workerId.isEmpty()) {
      log.info("worker drained")
          .with("worker", workerId)
          .with("queue", worker.settings().queue())
          .write();
    }
  }

  // Cancelling a poll may lose tasks that are on their way. A poll that completes delivers them.
  private void awaitPollEnd() throws InterruptedException {
    long untilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(POLL_END_MS);
    while (worker.poller().isPolling() && System.nanoTime() < untilNanos) {
      lock.lock();
      try {
        boolean unused = changed.await(5, TimeUnit.MILLISECONDS);
      } finally {
        lock.unlock();
      }
    }
    worker.poller().cancel();
  }

  private void releaseRest() throws InterruptedException {
    for (RunExecution run : worker.running()) {
      run.release();
    }
    if (!awaitIdle(RELEASE_MS)) {
      log.warn(
              "runs still hold their slots after the drain timeout: their code ignores its"
                  + " interrupt, or no server answers")
          .with("worker", worker.session().workerId())
          .with("queue", worker.settings().queue())
          .with("runs", worker.activeCount())
          .write();
    }
  }

  private boolean awaitIdle(long ms) throws InterruptedException {
    long leftNanos = TimeUnit.MILLISECONDS.toNanos(ms);
    lock.lock();
    try {
      while (worker.activeCount() > 0) {
        if (leftNanos <= 0) {
          return false;
        }
        leftNanos = changed.awaitNanos(leftNanos);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void deregister(boolean drain) throws InterruptedException {
    String workerId = worker.session().workerId();
    if (workerId.isEmpty()) {
      return;
    }
    CountDownLatch answered = new CountDownLatch(1);
    DeregisterRequest request =
        DeregisterRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setWorkerId(workerId)
            .setDrain(drain)
            .build();
    connection
        .workers(CALL_MS)
        .deregister(
            request,
            new UnaryAnswer<>(
                response -> answered.countDown(),
                error -> {
                  log.debug(
                          "deregistration not answered, the server marks the worker offline when"
                              + " heartbeats are missing")
                      .with("worker", workerId)
                      .with("queue", worker.settings().queue())
                      .with("error", error.getMessage())
                      .cause(error)
                      .write();
                  answered.countDown();
                }));
    boolean unused = answered.await(CALL_MS + 1_000, TimeUnit.MILLISECONDS);
  }
}
