package dev.kagzi.sdk.internal.worker;

import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.PollTasksResponse;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.RepeatLimiter;
import dev.kagzi.sdk.internal.wire.Backoff;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.RpcErrors;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps one poll under way while the worker is registered and has a free slot. Slots that become
 * free while a poll stands are told with the next.
 *
 * <p>With limits by type that is not enough: a poll that began while a type was at its limit does
 * not ask for it, and may stand for long. A second poll then asks for what has become free since.
 * Thread-safe.
 */
final class Poller {
  private static final EventLog log = EventLog.of(Poller.class);
  private static final long WAIT_MS = 30_000;
  private static final long ANSWER_MS = WAIT_MS + 10_000;

  /** What a poller needs of its worker. */
  interface Owner {
    /** Null while it is not registered, or is draining. */
    @Nullable String pollAs();

    WorkerSlots.Free free();

    void arrived(List<Task> tasks);

    /** The server does not know the worker, thinks it gone, or wants it to drain. */
    void refused();
  }

  private final Connection connection;
  private final String queue;
  private final boolean hasLimits;
  private final Owner owner;
  private final ReentrantLock lock = new ReentrantLock();
  private final Backoff backoff = new Backoff(50, 5_000);
  private final RepeatLimiter refusals = new RepeatLimiter();
  private final List<Poll> standing = new CopyOnWriteArrayList<>();

  /** How many of the limited types the last poll asked for, less what has come since. */
  private final Map<TypeName, Integer> asked = new HashMap<>();

  private volatile boolean paused;

  Poller(Connection connection, String queue, boolean hasLimits, Owner owner) {
    this.connection = connection;
    this.queue = queue;
    this.hasLimits = hasLimits;
    this.owner = owner;
  }

  /** Polls, unless that is under way or there is no reason to. */
  void poll() {
    if (paused || (!hasLimits && !standing.isEmpty())) {
      return;
    }
    Poll poll;
    lock.lock();
    try {
      String workerId = owner.pollAs();
      if (paused || workerId == null) {
        return;
      }
      WorkerSlots.Free free = owner.free();
      int tasks = wanted(free);
      if (tasks == 0) {
        return;
      }
      poll = new Poll(workerId, tasks, free.types());
      standing.add(poll);
      if (hasLimits) {
        ask(free.types());
      }
    } finally {
      lock.unlock();
    }
    poll.send();
  }

  /** How many tasks another poll should ask for; 0 if none is needed. */
  private int wanted(WorkerSlots.Free free) {
    if (free.isNone() || standing.size() > (hasLimits ? 1 : 0)) {
      return 0;
    }
    if (standing.isEmpty()) {
      return free.tasks();
    }
    // Only for a type that is lacking: a second poll for anything else would keep its place.
    return lacksType(free) ? Math.max(1, free.tasks() - standing.getFirst().tasks) : 0;
  }

  // The server keeps to the limits of the last poll, whichever poll it answers.
  private boolean lacksType(WorkerSlots.Free free) {
    for (TypeVersion type : free.types()) {
      if (type.getMaxTasks() > 0 && asked.getOrDefault(TypeName.of(type), 0) <= 0) {
        return true;
      }
    }
    return false;
  }

  private void ask(List<TypeVersion> types) {
    asked.clear();
    for (TypeVersion type : types) {
      if (type.getMaxTasks() > 0) {
        asked.put(TypeName.of(type), type.getMaxTasks());
      }
    }
  }

  private void count(List<Task> tasks) {
    lock.lock();
    try {
      for (Task task : tasks) {
        TypeName name = new TypeName(task.getWorkflowType(), task.getVersion());
        asked.computeIfPresent(name, (type, left) -> left - 1);
      }
    } finally {
      lock.unlock();
    }
  }

  private record TypeName(String type, String version) {
    static TypeName of(TypeVersion type) {
      return new TypeName(type.getWorkflowType(), type.getVersion());
    }
  }

  boolean isPolling() {
    return !standing.isEmpty();
  }

  /** Ends the polls that stand; what they were about to bring returns by itself. */
  void cancel() {
    standing.forEach(Poll::cancel);
  }

  private final class Poll implements ClientResponseObserver<PollTasksRequest, PollTasksResponse> {
    final int tasks;
    private final String workerId;
    private final List<TypeVersion> types;
    private @Nullable ClientCallStreamObserver<PollTasksRequest> call;

    Poll(String workerId, int tasks, List<TypeVersion> types) {
      this.workerId = workerId;
      this.tasks = tasks;
      this.types = types;
    }

    void send() {
      PollTasksRequest request =
          PollTasksRequest.newBuilder()
              .setNamespace(connection.namespace())
              .setWorkerId(workerId)
              .setTaskQueue(queue)
              .setMaxTasks(tasks)
              .addAllTypes(types)
              .setWaitMs(WAIT_MS)
              .build();
      try {
        connection.workers(ANSWER_MS).pollTasks(request, this);
      } catch (RuntimeException e) {
        // An interceptor of the application's may throw.
        failed(this, e);
      }
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
      if (hasLimits) {
        count(response.getTasksList());
      }
      owner.arrived(response.getTasksList());
    }

    @Override
    public void onCompleted() {
      lock.lock();
      try {
        standing.remove(this);
        backoff.reset();
        refusals.reset();
      } finally {
        lock.unlock();
      }
      poll();
    }

    @Override
    public void onError(Throwable error) {
      failed(this, error);
    }
  }

  private void failed(Poll poll, Throwable error) {
    long pauseMs;
    lock.lock();
    try {
      standing.remove(poll);
      paused = true;
      pauseMs = backoff.nextMs();
    } finally {
      lock.unlock();
    }
    connection.after(pauseMs, this::resume);
    switch (RpcErrors.code(error)) {
      case NOT_FOUND, FAILED_PRECONDITION -> owner.refused();
      default -> {
        if (!RpcErrors.isTransient(error)) {
          String reason = String.valueOf(error.getMessage());
          String what = "poll refused, it will be sent again";
          (refusals.isNew(reason) ? log.warn(what) : log.debug(what))
              .with("queue", queue)
              .with("error", reason)
              .with("pause_ms", pauseMs)
              .cause(error)
              .write();
        }
      }
    }
  }

  private void resume() {
    paused = false;
    poll();
  }
}
