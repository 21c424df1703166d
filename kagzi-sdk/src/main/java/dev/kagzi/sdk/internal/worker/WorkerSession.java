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
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a worker known to the server: registers it, again when the server has lost it, and keeps a
 * stream attached over which the server can speak first. Thread-safe.
 */
final class WorkerSession {
  private static final EventLog log = EventLog.of(WorkerSession.class);
  private static final long CALL_DEADLINE_MS = 10_000;

  /** What a registration tells its worker. */
  interface Owner {
    /** Registered, for the first time or anew. */
    void registered(String workerId, int heartbeatSeconds);

    /** The server speaks. */
    void told(AttachResponse event);

    /** The server does not want the stream: it has lost the worker, or wants it to drain. */
    void refused();
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
  private boolean leaving;
  private boolean closed;
  private final Condition changed = lock.newCondition();

  WorkerSession(Connection connection, RegisterRequest request, Owner owner) {
    this.connection = connection;
    this.request = request;
    this.owner = owner;
  }

  /** The latest; empty before the first. */
  String workerId() {
    return workerId;
  }

  /** Whether it is registered and the server can reach it over its stream now. */
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

  /** Waits until it is registered; false if the time ended first. */
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

  /** From now on a worker that the server does not know stays unknown: it is leaving. */
  void renewNoMore() {
    lock.lock();
    try {
      leaving = true;
    } finally {
      lock.unlock();
    }
  }

  /** The server does not know this worker id: registers anew, unless that has happened since. */
  void renew(String staleWorkerId) {
    Attachment old;
    lock.lock();
    try {
      if (closed || leaving || !registered || !workerId.equals(staleWorkerId)) {
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

  /** Lets the stream go, and registers no more. */
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

  /** A registration that is tried again has the same id: the server may have heard of it. */
  private void register(RegisterRequest attempt) {
    connection
        .workers()
        .withDeadlineAfter(CALL_DEADLINE_MS, TimeUnit.MILLISECONDS)
        .register(
            attempt,
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
            });
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
    owner.registered(response.getWorkerId(), response.getHeartbeatIntervalSecs());
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

  private void attach(String as) {
    Attachment next = new Attachment(as);
    lock.lock();
    try {
      if (closed || !registered || !workerId.equals(as)) {
        return;
      }
      attachment = next;
    } finally {
      lock.unlock();
    }
    next.open();
  }

  /** One stream; its break is answered with another. */
  private final class Attachment implements ClientResponseObserver<AttachRequest, AttachResponse> {
    private final String as;
    private @Nullable ClientCallStreamObserver<AttachRequest> call;

    /** The server has confirmed the stream. */
    private volatile boolean attached;

    Attachment(String as) {
      this.as = as;
    }

    void open() {
      connection
          .workers()
          .attach(
              AttachRequest.newBuilder()
                  .setNamespace(connection.namespace())
                  .setWorkerId(as)
                  .build(),
              this);
    }

    void cancel() {
      ClientCallStreamObserver<AttachRequest> opened = call;
      if (opened != null) {
        opened.cancel("the worker is closing or registers anew", null);
      }
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<AttachRequest> call) {
      this.call = call;
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
        owner.told(event);
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
    connection.after(pauseMs, () -> attach(broken.as));
    switch (RpcErrors.code(error)) {
      case NOT_FOUND, FAILED_PRECONDITION -> owner.refused();
      default -> {}
    }
  }
}
