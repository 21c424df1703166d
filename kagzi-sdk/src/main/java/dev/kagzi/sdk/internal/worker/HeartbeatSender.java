package dev.kagzi.sdk.internal.worker;

import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.HeartbeatResponse;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.RepeatLimiter;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.RpcErrors;
import dev.kagzi.sdk.internal.wire.UnaryAnswer;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Sends heartbeats with the worker's claims at the server's interval. Thread-safe. */
final class HeartbeatSender {
  private static final EventLog log = EventLog.of(HeartbeatSender.class);
  private static final int DEFAULT_SECONDS = 3;

  interface Owner {
    String workerId();

    void addClaims(HeartbeatRequest.Builder request);

    void onResponse(HeartbeatResponse response);

    void onUnknownWorker(String workerId);
  }

  private final Connection connection;
  private final Owner owner;
  private final Count completed = new Count();
  private final Count failed = new Count();
  private final RepeatLimiter failures = new RepeatLimiter();
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable ScheduledFuture<?> schedule;
  private boolean closed;

  /** Whether the latest finished heartbeat was answered; true before the first. */
  private volatile boolean answered = true;

  private String countedFor = "";

  /** Counts ended runs; a new registration reports only those not acknowledged before. */
  private static final class Count {
    private final AtomicLong total = new AtomicLong();
    private final AtomicLong acknowledged = new AtomicLong();
    private volatile long base;

    void acknowledge(long total) {
      acknowledged.accumulateAndGet(total, Math::max);
    }

    void reset() {
      base = acknowledged.get();
    }
  }

  HeartbeatSender(Connection connection, Owner owner) {
    this.connection = connection;
    this.owner = owner;
  }

  void countCompleted() {
    completed.total.incrementAndGet();
  }

  void countFailed() {
    failed.total.incrementAndGet();
  }

  boolean isAnswered() {
    return answered;
  }

  void startEvery(int seconds) {
    answered = true;
    long intervalMs = 1_000L * (seconds > 0 ? seconds : DEFAULT_SECONDS);
    lock.lock();
    try {
      if (closed || connection.timers().isShutdown()) {
        return;
      }
      if (schedule != null) {
        schedule.cancel(false);
      }
      schedule = connection.every(intervalMs, "heartbeat", () -> send(intervalMs));
    } finally {
      lock.unlock();
    }
  }

  /** Sends a heartbeat after a rejected call, because the answer shows what the server expects. */
  void sendNow() {
    lock.lock();
    try {
      if (closed || schedule == null) {
        return;
      }
    } finally {
      lock.unlock();
    }
    send(DEFAULT_SECONDS * 1_000L);
  }

  void close() {
    lock.lock();
    try {
      closed = true;
      if (schedule != null) {
        schedule.cancel(false);
      }
    } finally {
      lock.unlock();
    }
  }

  // A regular heartbeat has the interval as its deadline, so that it ends before the next one.
  private void send(long deadlineMs) {
    String workerId = owner.workerId();
    resetCountsFor(workerId);
    long completedNow = completed.total.get();
    long failedNow = failed.total.get();
    HeartbeatRequest.Builder request =
        HeartbeatRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setWorkerId(workerId)
            .setTotalCompleted(completedNow - completed.base)
            .setTotalFailed(failedNow - failed.base);
    owner.addClaims(request);
    connection
        .workers(deadlineMs)
        .heartbeat(
            request.build(),
            new UnaryAnswer<>(
                response -> answered(response, completedNow, failedNow),
                error -> failed(workerId, error)));
  }

  private void resetCountsFor(String workerId) {
    lock.lock();
    try {
      if (!workerId.equals(countedFor)) {
        countedFor = workerId;
        completed.reset();
        failed.reset();
      }
    } finally {
      lock.unlock();
    }
  }

  private void answered(HeartbeatResponse response, long completedNow, long failedNow) {
    completed.acknowledge(completedNow);
    failed.acknowledge(failedNow);
    answered = true;
    failures.reset();
    owner.onResponse(response);
  }

  private void failed(String workerId, Throwable error) {
    answered = false;
    if (RpcErrors.code(error) == io.grpc.Status.Code.NOT_FOUND) {
      owner.onUnknownWorker(workerId);
    } else if (!RpcErrors.isTransient(error)) {
      String reason = String.valueOf(error.getMessage());
      String what = "heartbeat refused, the next one follows";
      (failures.isNew(reason) ? log.warn(what) : log.debug(what))
          .with("worker", workerId)
          .with("error", reason)
          .cause(error)
          .write();
    }
  }
}
