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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Keeps one poll in flight while the worker is registered and has a free slot. Slots that become
 * free during a poll are requested with the next one.
 *
 * <p>Type limits need a second poll: a poll that began while a type was at its limit does not
 * request that type, and may wait for long. The second poll requests the types that have become
 * free since. Thread-safe.
 */
final class Poller {
  private static final EventLog log = EventLog.of(Poller.class);
  private static final long WAIT_MS = 30_000;
  private static final long ANSWER_MS = WAIT_MS + 10_000;

  interface Owner {
    /** Returns the worker id; null while the worker is not registered or is draining. */
    @Nullable String workerIdToPoll();

    WorkerSlots.Free free();

    void onTasks(List<Task> tasks);

    /** The server does not know the worker, has marked it offline, or wants it to drain. */
    void onRejected();
  }

  private final Connection connection;
  private final String queue;
  private final boolean hasLimits;
  private final Owner owner;
  private final ReentrantLock lock = new ReentrantLock();
  private final Backoff backoff = new Backoff(50, 5_000);
  private final RepeatLimiter refusals = new RepeatLimiter();
  private final List<Poll> inFlight = new CopyOnWriteArrayList<>();

  /** How many tasks of each limited type the last poll requested, minus those received since. */
  private final Map<TypeName, Integer> requested = new HashMap<>();

  private volatile boolean paused;

  Poller(Connection connection, String queue, boolean hasLimits, Owner owner) {
    this.connection = connection;
    this.queue = queue;
    this.hasLimits = hasLimits;
    this.owner = owner;
  }

  /** Sends a poll if a slot is free, the worker may poll, and not enough polls are in flight. */
  void poll() {
    if (paused || (!hasLimits && !inFlight.isEmpty())) {
      return;
    }
    Poll poll;
    lock.lock();
    try {
      String workerId = owner.workerIdToPoll();
      if (paused || workerId == null) {
        return;
      }
      WorkerSlots.Free free = owner.free();
      int tasks = tasksToRequest(free);
      if (tasks == 0) {
        return;
      }
      poll = new Poll(workerId, tasks, free.types());
      inFlight.add(poll);
      if (hasLimits) {
        recordRequested(free.types());
      }
    } finally {
      lock.unlock();
    }
    if (!poll.start()) {
      inFlight.remove(poll);
    }
  }

  /** Returns how many tasks another poll should request; 0 if no further poll is needed. */
  private int tasksToRequest(WorkerSlots.Free free) {
    if (free.isNone() || inFlight.size() > (hasLimits ? 1 : 0)) {
      return 0;
    }
    if (inFlight.isEmpty()) {
      return free.tasks();
    }
    // A second poll is sent only for a type that the first does not request; otherwise it would
    // only prevent a later poll for such a type.
    return hasUnrequestedType(free) ? Math.max(1, free.tasks() - inFlight.getFirst().tasks) : 0;
  }

  // The server applies the type limits of the latest poll to all polls of the worker.
  private boolean hasUnrequestedType(WorkerSlots.Free free) {
    for (TypeVersion type : free.types()) {
      if (type.getMaxTasks() > 0 && requested.getOrDefault(TypeName.of(type), 0) <= 0) {
        return true;
      }
    }
    return false;
  }

  private void recordRequested(List<TypeVersion> types) {
    requested.clear();
    for (TypeVersion type : types) {
      if (type.getMaxTasks() > 0) {
        requested.put(TypeName.of(type), type.getMaxTasks());
      }
    }
  }

  private void subtractReceived(List<Task> tasks) {
    lock.lock();
    try {
      for (Task task : tasks) {
        TypeName name = new TypeName(task.getWorkflowType(), task.getVersion());
        requested.computeIfPresent(name, (type, left) -> left - 1);
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
    return !inFlight.isEmpty();
  }

  /** Cancels the polls in flight. The server takes back tasks that they were about to deliver. */
  void cancel() {
    inFlight.forEach(Poll::cancel);
  }

  private final class Poll extends CancellableCall<PollTasksRequest, PollTasksResponse> {
    final int tasks;
    private final String workerId;
    private final List<TypeVersion> types;

    Poll(String workerId, int tasks, List<TypeVersion> types) {
      this.workerId = workerId;
      this.tasks = tasks;
      this.types = types;
    }

    @Override
    void call() {
      PollTasksRequest request =
          PollTasksRequest.newBuilder()
              .setNamespace(connection.namespace())
              .setWorkerId(workerId)
              .setTaskQueue(queue)
              .setMaxTasks(tasks)
              .addAllTypes(types)
              .setWaitMs(WAIT_MS)
              .build();
      connection.workers(ANSWER_MS).pollTasks(request, this);
    }

    @Override
    public void onNext(PollTasksResponse response) {
      if (hasLimits) {
        subtractReceived(response.getTasksList());
      }
      owner.onTasks(response.getTasksList());
    }

    @Override
    public void onCompleted() {
      lock.lock();
      try {
        inFlight.remove(this);
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
      inFlight.remove(poll);
      paused = true;
      pauseMs = backoff.nextMs();
    } finally {
      lock.unlock();
    }
    connection.after(pauseMs, this::resume);
    switch (RpcErrors.code(error)) {
      case NOT_FOUND, FAILED_PRECONDITION -> owner.onRejected();
      default -> {
        if (!RpcErrors.isTransient(error)) {
          String reason = String.valueOf(error.getMessage());
          String what = "poll refused, it will be sent again";
          (refusals.isNew(reason) ? log.warn(what) : log.debug(what))
              .with("worker", poll.workerId)
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
