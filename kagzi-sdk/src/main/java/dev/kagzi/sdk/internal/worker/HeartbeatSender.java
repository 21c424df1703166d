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
final class HeartbeatSender {
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
  private final Count completed = new Count();
  private final Count failed = new Count();
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable ScheduledFuture<?> schedule;
  private boolean closed;

  /** Whether the latest beat that is over was answered; true before the first. */
  private volatile boolean answered = true;

  private String countedFor = "";

  /**
   * Runs that ended. A worker that registers again starts at 0: what the server has heard of before
   * is not counted for it.
   */
  private static final class Count {
    private final AtomicLong ever = new AtomicLong();
    private final AtomicLong heard = new AtomicLong();
    private volatile long before;

    /** As many as were counted now are known to the server. */
    void heard(long ever) {
      heard.accumulateAndGet(ever, Math::max);
    }

    void registeredAgain() {
      before = heard.get();
    }
  }

  HeartbeatSender(Connection connection, Owner owner) {
    this.connection = connection;
    this.owner = owner;
  }

  void countCompleted() {
    completed.ever.incrementAndGet();
  }

  void countFailed() {
    failed.ever.incrementAndGet();
  }

  /** Whether the server answers: false from a beat without an answer on, until one has one. */
  boolean isAnswered() {
    return answered;
  }

  /** Begins, or changes the pace. */
  void every(int seconds) {
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
    startAt0For(workerId);
    long completedNow = completed.ever.get();
    long failedNow = failed.ever.get();
    HeartbeatRequest.Builder request =
        HeartbeatRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setWorkerId(workerId)
            .setTotalCompleted(completedNow - completed.before)
            .setTotalFailed(failedNow - failed.before);
    owner.describe(request);
    connection
        .workers()
        .withDeadlineAfter(deadlineMs, TimeUnit.MILLISECONDS)
        .heartbeat(request.build(), new Answer(workerId, completedNow, failedNow));
  }

  private void startAt0For(String workerId) {
    lock.lock();
    try {
      if (!workerId.equals(countedFor)) {
        countedFor = workerId;
        completed.registeredAgain();
        failed.registeredAgain();
      }
    } finally {
      lock.unlock();
    }
  }

  private final class Answer implements StreamObserver<HeartbeatResponse> {
    private final String workerId;
    private final long completedNow;
    private final long failedNow;

    Answer(String workerId, long completedNow, long failedNow) {
      this.workerId = workerId;
      this.completedNow = completedNow;
      this.failedNow = failedNow;
    }

    @Override
    public void onNext(HeartbeatResponse response) {
      completed.heard(completedNow);
      failed.heard(failedNow);
      answered = true;
      owner.told(response);
    }

    @Override
    public void onError(Throwable error) {
      answered = false;
      if (RpcErrors.code(error) == io.grpc.Status.Code.NOT_FOUND) {
        owner.unknown(workerId);
      }
    }

    @Override
    public void onCompleted() {}
  }
}
