package dev.kagzi.sdk.internal.worker;

import dev.kagzi.protocol.v1.HeartbeatRequest;
import dev.kagzi.protocol.v1.HeartbeatResponse;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.RpcErrors;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Tells the server, at its pace, which claims are being executed. Thread-safe. */
final class Heartbeat {
  private static final int DEFAULT_SECONDS = 3;

  /** What a heartbeat needs of its worker. */
  interface Owner {
    String workerId();

    /** Adds the claims that are being executed. */
    void describe(HeartbeatRequest.Builder request);

    void told(HeartbeatResponse response);

    void unknown(String workerId);
  }

  private final Connection connection;
  private final Owner owner;
  private final AtomicLong completed = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable ScheduledFuture<?> schedule;
  private boolean closed;

  Heartbeat(Connection connection, Owner owner) {
    this.connection = connection;
    this.owner = owner;
  }

  void countCompleted() {
    completed.incrementAndGet();
  }

  void countFailed() {
    failed.incrementAndGet();
  }

  /** Begins, or changes the pace. */
  void every(int seconds) {
    long intervalMs = 1_000L * (seconds > 0 ? seconds : DEFAULT_SECONDS);
    lock.lock();
    try {
      if (closed || connection.timers().isShutdown()) {
        return;
      }
      if (schedule != null) {
        schedule.cancel(false);
      }
      schedule =
          connection
              .timers()
              .scheduleAtFixedRate(
                  () -> beat(intervalMs), intervalMs, intervalMs, TimeUnit.MILLISECONDS);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Beats out of turn. Something was refused, and the answer to a heartbeat says what that means:
   * the worker is unknown, or shall drain, or has nothing to do with it.
   */
  void askNow() {
    lock.lock();
    try {
      if (closed || schedule == null) {
        return;
      }
    } finally {
      lock.unlock();
    }
    beat(DEFAULT_SECONDS * 1_000L);
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

  // The deadline is the interval: an unanswered beat is over when the next one is due.
  private void beat(long deadlineMs) {
    String workerId = owner.workerId();
    long completedNow = completed.getAndSet(0);
    long failedNow = failed.getAndSet(0);
    HeartbeatRequest.Builder request =
        HeartbeatRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setWorkerId(workerId)
            .setCompletedDelta(completedNow)
            .setFailedDelta(failedNow);
    owner.describe(request);
    connection
        .workers()
        .withDeadlineAfter(deadlineMs, TimeUnit.MILLISECONDS)
        .heartbeat(request.build(), new Answer(workerId, completedNow, failedNow));
  }

  private final class Answer implements StreamObserver<HeartbeatResponse> {
    private final String workerId;
    private final long completedSent;
    private final long failedSent;

    Answer(String workerId, long completedSent, long failedSent) {
      this.workerId = workerId;
      this.completedSent = completedSent;
      this.failedSent = failedSent;
    }

    @Override
    public void onNext(HeartbeatResponse response) {
      owner.told(response);
    }

    @Override
    public void onError(Throwable error) {
      completed.addAndGet(completedSent);
      failed.addAndGet(failedSent);
      if (RpcErrors.code(error) == io.grpc.Status.Code.NOT_FOUND) {
        owner.unknown(workerId);
      }
    }

    @Override
    public void onCompleted() {}
  }
}
