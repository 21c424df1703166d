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
import dev.kagzi.sdk.internal.wire.UnaryAnswer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Registers a worker, and registers it again if the server does not know it any more. Keeps the
 * Attach stream open, over which the server sends events. Thread-safe.
 */
final class WorkerSession {
  private static final EventLog log = EventLog.of(WorkerSession.class);
  private static final long CALL_DEADLINE_MS = 10_000;

  interface Owner {
    void onRegistered(String workerId, int heartbeatSeconds);

    void onEvent(AttachResponse event);

    /** The server rejected the Attach stream: the worker is unknown or offline. */
    void onRejected();
  }

  private final Connection connection;
  private final RegisterRequest request;
  private final Owner owner;
  private final ReentrantLock lock = new ReentrantLock();
  private final Backoff registerBackoff = new Backoff(50, 5_000);
  private final RepeatLimiter failures = new RepeatLimiter();
  private final Backoff attachBackoff = new Backoff(20, 2_000);
  private final RepeatLimiter attachFailures = new RepeatLimiter();
  private volatile String workerId = "";
  private volatile boolean registered;
  private volatile @Nullable Attachment attachment;
  private volatile boolean draining;
  private boolean closed;
  private final Condition changed = lock.newCondition();

  WorkerSession(Connection connection, RegisterRequest request, Owner owner) {
    this.connection = connection;
    this.request = request;
    this.owner = owner;
  }

  String workerId() {
    return workerId;
  }

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

  void stopRegistering() {
    draining = true;
  }

  /** Does nothing if this registration is not the current one, or if the worker drains. */
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

  /** A retry has the same request id, because the server may have processed the first request. */
  private void register(RegisterRequest attempt) {
    connection
        .workers(CALL_DEADLINE_MS)
        .register(
            attempt, new UnaryAnswer<>(this::registered, error -> notRegistered(attempt, error)));
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
      // An interceptor of the application may throw after the answer was handled.
      if (closed || registered) {
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

  /** One Attach stream. When it breaks, another one is opened. */
  private final class Attachment extends CancellableCall<AttachRequest, AttachResponse> {
    private final String attachedWorkerId;
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
          attachFailures.reset();
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
      default -> {
        if (!RpcErrors.isTransient(error)) {
          String reason = String.valueOf(error.getMessage());
          String what = "stream of the worker refused, it will be opened again";
          (attachFailures.isNew(reason) ? log.warn(what) : log.debug(what))
              .with("worker", broken.attachedWorkerId)
              .with("queue", request.getTaskQueue())
              .with("error", reason)
              .with("pause_ms", pauseMs)
              .cause(error)
              .write();
        }
      }
    }
  }
}
