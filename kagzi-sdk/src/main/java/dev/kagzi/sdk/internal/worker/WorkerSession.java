package dev.kagzi.sdk.internal.worker;

import dev.kagzi.protocol.v1.AttachRequest;
import dev.kagzi.protocol.v1.AttachResponse;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.RegisterResponse;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.RepeatLimiter;
import dev.kagzi.sdk.internal.wire.Backoff;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.RequestIds;
import dev.kagzi.sdk.internal.wire.RpcErrors;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a worker registered: registers it, again after the server lost it, and keeps the attached
 * stream open over which the server sends events. Thread-safe.
 */
final class WorkerSession {
  private static final EventLog log = EventLog.of(WorkerSession.class);
  private static final long CALL_DEADLINE_MS = 10_000;

  /** Implemented by the worker that owns the session. */
  interface Owner {
    /** Called after each successful registration. */
    void onRegistered(String workerId, int heartbeatSeconds);

    /** Called for each event that the server sends over the stream. */
    void onEvent(AttachResponse event);

    /**
     * Called if the server rejects the stream: it does not know the worker, or wants it to drain.
     */
    void onRejected();
  }

  private final Connection connection;
  private final RegisterRequest request;
  private final Owner owner;
  private final ReentrantLock lock = new ReentrantLock();
  private final Backoff registerBackoff = new Backoff(50, 5_000);
  private final RepeatLimiter failures = new RepeatLimiter();
  private final Backoff attachBackoff = new Backoff(20, 2_000);
  private volatile String workerId = "";
  private volatile boolean registered;
  private volatile @Nullable Attachment attachment;
  private boolean draining;
  private boolean closed;
  private final Condition changed = lock.newCondition();

  WorkerSession(Connection connection, RegisterRequest request, Owner owner) {
    this.connection = connection;
    this.request = request;
    this.owner = owner;
  }

  /** Returns the id of the latest registration; empty before the first. */
  String workerId() {
    return workerId;
  }

  /** Returns whether the worker is registered and its stream is open. */
  boolean isAttached() {
    Attachment open = attachment;
    return registered && open != null && open.attached;
  }

  boolean isRegistered() {
    return registered;
  }

  void start() {
    register();
  }

  /** Waits until the worker is registered; returns false if the time ended first. */
  boolean await(long nanos) throws InterruptedException {
    long left = nanos;
    lock.lock();
    try {
      while (!registered) {
        if (left <= 0) {
          return false;
        }
        left = changed.awaitNanos(left);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Stops new registrations, because the worker is draining. */
  void stopRegistering() {
    lock.lock();
    try {
      draining = true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Registers again because the server does not know this worker id, unless a newer registration
   * exists.
   */
  void registerAgain(String staleWorkerId) {
    Attachment old;
    lock.lock();
    try {
      if (closed || draining || !registered || !workerId.equals(staleWorkerId)) {
        return;
      }
      registered = false;
      old = attachment;
      attachment = null;
    } finally {
      lock.unlock();
    }
    log.warn("server does not know the worker any more, registering again")
        .with("worker", staleWorkerId)
        .with("queue", request.getTaskQueue())
        .write();
    if (old != null) {
      old.cancel();
    }
    register();
  }

  /** Closes the stream and stops registering. */
  void close() {
    Attachment old;
    lock.lock();
    try {
      closed = true;
      registered = false;
      old = attachment;
      attachment = null;
    } finally {
      lock.unlock();
    }
    if (old != null) {
      old.cancel();
    }
  }

  private void register() {
    register(RequestIds.withId(request));
  }

  /**
   * Sends a registration. A retry has the same request id, because the server may have received the
   * first.
   */
  private void register(RegisterRequest attempt) {
    StreamObserver<RegisterResponse> answer =
        new StreamObserver<>() {
          @Override
          public void onNext(RegisterResponse response) {
            registered(response);
          }

          @Override
          public void onError(Throwable error) {
            notRegistered(attempt, error);
          }

          @Override
          public void onCompleted() {}
        };
    connection.workers(CALL_DEADLINE_MS).register(attempt, answer);
  }

  private void registered(RegisterResponse response) {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      workerId = response.getWorkerId();
      registered = true;
      registerBackoff.reset();
      failures.reset();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    log.info("worker registered")
        .with("worker", response.getWorkerId())
        .with("queue", request.getTaskQueue())
        .write();
    attach(response.getWorkerId());
    owner.onRegistered(response.getWorkerId(), response.getHeartbeatIntervalSecs());
  }

  private void notRegistered(RegisterRequest attempt, Throwable error) {
    long pauseMs;
    lock.lock();
    try {
      if (closed) {
        return;
      }
      pauseMs = registerBackoff.nextMs();
    } finally {
      lock.unlock();
    }
    Throwable reason = RpcErrors.toException(connection.at("register"), error);
    String what = "worker not registered, trying again";
    (failures.isNew(String.valueOf(reason.getMessage())) ? log.warn(what) : log.debug(what))
        .with("queue", request.getTaskQueue())
        .with("error", reason.getMessage())
        .with("pause_ms", pauseMs)
        .cause(reason)
        .write();
    connection.after(pauseMs, () -> register(attempt));
  }

  private void attach(String attachedWorkerId) {
    Attachment next = new Attachment(attachedWorkerId);
    lock.lock();
    try {
      if (closed || !registered || !workerId.equals(attachedWorkerId)) {
        return;
      }
      attachment = next;
    } finally {
      lock.unlock();
    }
    next.start();
  }

  /** One attached stream. When it breaks, another one is opened. */
  private final class Attachment extends CancellableCall<AttachRequest, AttachResponse> {
    private final String attachedWorkerId;

    /** Whether the server has confirmed the stream. */
    private volatile boolean attached;

    Attachment(String attachedWorkerId) {
      this.attachedWorkerId = attachedWorkerId;
    }

    @Override
    void call() {
      connection
          .workers()
          .attach(
              AttachRequest.newBuilder()
                  .setNamespace(connection.namespace())
                  .setWorkerId(attachedWorkerId)
                  .build(),
              this);
    }

    @Override
    public void onNext(AttachResponse event) {
      if (event.hasAttached()) {
        attached = true;
        lock.lock();
        try {
          attachBackoff.reset();
        } finally {
          lock.unlock();
        }
      } else {
        owner.onEvent(event);
      }
    }

    @Override
    public void onError(Throwable error) {
      broken(this, error);
    }

    @Override
    public void onCompleted() {
      broken(this, io.grpc.Status.UNAVAILABLE.asException());
    }
  }

  private void broken(Attachment broken, Throwable error) {
    long pauseMs;
    lock.lock();
    try {
      if (attachment != broken) {
        return;
      }
      attachment = null;
      pauseMs = attachBackoff.nextMs();
    } finally {
      lock.unlock();
    }
    connection.after(pauseMs, () -> attach(broken.attachedWorkerId));
    switch (RpcErrors.code(error)) {
      case NOT_FOUND, FAILED_PRECONDITION -> owner.onRejected();
      default -> {}
    }
  }
}
