package dev.kagzi.sdk.internal.worker;

import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.PollTasksResponse;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.internal.wire.Backoff;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.RpcErrors;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one poll under way while the worker is registered and has a free slot. Slots that become
 * free while a poll stands are told with the next. Thread-safe.
 */
final class Poller {
  private static final Logger log = LoggerFactory.getLogger(Poller.class);
  private static final long WAIT_MS = 30_000;
  private static final long DEADLINE_MS = WAIT_MS + 10_000;

  /** What a poller needs of its worker. */
  interface Owner {
    /** Null while it is not registered, or is draining. */
    @Nullable String pollAs();

    Slots.Free free();

    void arrived(List<Task> tasks);

    /** The server does not know the worker, or thinks it gone. */
    void unknown(String workerId);
  }

  private final Connection connection;
  private final String queue;
  private final Owner owner;
  private final ReentrantLock lock = new ReentrantLock();
  private final Backoff backoff = new Backoff(50, 5_000);
  private volatile boolean polling;
  private volatile boolean paused;
  private @Nullable Poll current;

  Poller(Connection connection, String queue, Owner owner) {
    this.connection = connection;
    this.queue = queue;
    this.owner = owner;
  }

  /** Polls, unless that is under way or there is no reason to. */
  void poll() {
    if (polling || paused) {
      return;
    }
    Poll poll;
    lock.lock();
    try {
      String workerId = owner.pollAs();
      if (polling || paused || workerId == null) {
        return;
      }
      Slots.Free free = owner.free();
      if (free.isNone()) {
        return;
      }
      polling = true;
      poll = new Poll(workerId, free);
      current = poll;
    } finally {
      lock.unlock();
    }
    poll.send();
  }

  boolean isPolling() {
    return polling;
  }

  /** Ends the poll that stands; what it was about to bring returns by itself. */
  void cancel() {
    Poll poll;
    lock.lock();
    try {
      poll = current;
    } finally {
      lock.unlock();
    }
    if (poll != null) {
      poll.cancel();
    }
  }

  private final class Poll implements ClientResponseObserver<PollTasksRequest, PollTasksResponse> {
    private final String workerId;
    private final Slots.Free free;
    private @Nullable ClientCallStreamObserver<PollTasksRequest> call;

    Poll(String workerId, Slots.Free free) {
      this.workerId = workerId;
      this.free = free;
    }

    void send() {
      PollTasksRequest request =
          PollTasksRequest.newBuilder()
              .setNamespace(connection.namespace())
              .setWorkerId(workerId)
              .setTaskQueue(queue)
              .setMaxTasks(free.tasks())
              .addAllTypes(free.types())
              .setWaitMs(WAIT_MS)
              .build();
      connection
          .workers()
          .withDeadlineAfter(DEADLINE_MS, TimeUnit.MILLISECONDS)
          .pollTasks(request, this);
    }

    void cancel() {
      ClientCallStreamObserver<PollTasksRequest> started = call;
      if (started != null) {
        started.cancel("the worker drains", null);
      }
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<PollTasksRequest> call) {
      this.call = call;
    }

    @Override
    public void onNext(PollTasksResponse response) {
      owner.arrived(response.getTasksList());
    }

    @Override
    public void onCompleted() {
      lock.lock();
      try {
        polling = false;
        current = null;
        backoff.reset();
      } finally {
        lock.unlock();
      }
      poll();
    }

    @Override
    public void onError(Throwable error) {
      failed(workerId, error);
    }
  }

  private void failed(String workerId, Throwable error) {
    long pauseMs;
    lock.lock();
    try {
      polling = false;
      current = null;
      paused = true;
      pauseMs = backoff.nextMs();
    } finally {
      lock.unlock();
    }
    connection.after(pauseMs, this::resume);
    switch (RpcErrors.code(error)) {
      case NOT_FOUND, FAILED_PRECONDITION -> owner.unknown(workerId);
      case UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED, ABORTED, RESOURCE_EXHAUSTED -> {}
      default ->
          log.atWarn()
              .addKeyValue("queue", queue)
              .addKeyValue("error", error.getMessage())
              .addKeyValue("pause_ms", pauseMs)
              .log("poll refused, it will be sent again");
    }
  }

  private void resume() {
    paused = false;
    poll();
  }
}
