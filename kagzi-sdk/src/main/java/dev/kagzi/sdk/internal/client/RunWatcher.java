package dev.kagzi.sdk.internal.client;

import dev.kagzi.protocol.v1.WatchWorkflowsRequest;
import dev.kagzi.protocol.v1.WatchWorkflowsResponse;
import dev.kagzi.protocol.v1.WorkflowEnd;
import dev.kagzi.sdk.ServerUnavailableException;
import dev.kagzi.sdk.internal.wire.Backoff;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.RpcErrors;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the ends of runs over one stream, which is opened with the first wait and again after
 * each break. Thread-safe.
 */
public final class RunWatcher {
  private static final int MESSAGE_IDS_MAX = 5_000;

  /** Waits that come faster than this share a message. */
  private static final long GATHER_MS = 1;

  private final Connection connection;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Watch> watches = new HashMap<>();
  private final Backoff backoff = new Backoff(50, 2_000);
  private List<String> toWatch = new ArrayList<>();
  private List<String> toForget = new ArrayList<>();
  private @Nullable Stream stream;
  private boolean reopening;
  private boolean sendScheduled;
  private long sentNanos = System.nanoTime() - 1_000_000_000L;
  private boolean closed;

  public RunWatcher(Connection connection) {
    this.connection = connection;
  }

  private static final class Watch {
    final CompletableFuture<WorkflowEnd> end = new CompletableFuture<>();
    int waiters;
  }

  /** The end comes on a thread of the channel: do nothing there that takes time. */
  public CompletableFuture<WorkflowEnd> watch(String runId) {
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("client: closed (expected: open)");
      }
      Watch watch = watches.get(runId);
      if (watch == null) {
        watch = new Watch();
        watches.put(runId, watch);
        toWatch.add(runId);
        sendSoon();
      }
      watch.waiters++;
      return watch.end;
    } finally {
      lock.unlock();
    }
  }

  /**
   * One waiter has lost its patience; after the last the server need not remember the run.
   *
   * @param end what the waiter got: if that has come to its end meanwhile, others who watch the run
   *     anew are none of its business
   */
  @SuppressWarnings("ReferenceEquality")
  public void forget(String runId, CompletableFuture<WorkflowEnd> end) {
    lock.lock();
    try {
      Watch watch = watches.get(runId);
      if (watch != null && watch.end == end && --watch.waiters == 0) {
        watches.remove(runId);
        toForget.add(runId);
        sendSoon();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Fails what waits. */
  public void close() {
    List<Watch> left;
    Stream open;
    lock.lock();
    try {
      closed = true;
      left = List.copyOf(watches.values());
      watches.clear();
      open = stream;
      stream = null;
    } finally {
      lock.unlock();
    }
    if (open != null) {
      open.requests().onCompleted();
    }
    fail(left, new ServerUnavailableException("wait for a run: the client was closed", null));
  }

  private void sendSoon() {
    if (sendScheduled || reopening) {
      return;
    }
    if (System.nanoTime() - sentNanos >= GATHER_MS * 1_000_000L) {
      send();
    } else {
      sendScheduled = true;
      connection.after(GATHER_MS, this::sendScheduled);
    }
  }

  private void sendScheduled() {
    lock.lock();
    try {
      sendScheduled = false;
      if (!reopening && !closed) {
        send();
      }
    } finally {
      lock.unlock();
    }
  }

  // Under the lock, which also keeps the stream's messages in order: a stream has one writer.
  private void send() {
    sentNanos = System.nanoTime();
    Stream open = stream;
    if (open == null) {
      open = new Stream();
      stream = open;
      open.open();
      toWatch = new ArrayList<>(watches.keySet());
      toForget.clear();
    }
    // First what to forget: a run that is forgotten and watched again is to be watched.
    if (!toForget.isEmpty()) {
      open.requests().onNext(message().addAllForgetRunIds(toForget).build());
    }
    for (int from = 0; from < toWatch.size(); from += MESSAGE_IDS_MAX) {
      List<String> part = toWatch.subList(from, Math.min(toWatch.size(), from + MESSAGE_IDS_MAX));
      open.requests().onNext(message().addAllWatchRunIds(part).build());
    }
    toWatch = new ArrayList<>();
    toForget = new ArrayList<>();
  }

  private WatchWorkflowsRequest.Builder message() {
    return WatchWorkflowsRequest.newBuilder().setNamespace(connection.namespace());
  }

  private final class Stream implements StreamObserver<WatchWorkflowsResponse> {
    private @Nullable StreamObserver<WatchWorkflowsRequest> requests;

    void open() {
      requests = connection.workflows().watchWorkflows(this);
    }

    StreamObserver<WatchWorkflowsRequest> requests() {
      StreamObserver<WatchWorkflowsRequest> opened = requests;
      if (opened == null) {
        throw new IllegalStateException("stream: not open (expected: open() first)");
      }
      return opened;
    }

    @Override
    public void onNext(WatchWorkflowsResponse response) {
      ended(response.getEndsList());
    }

    @Override
    public void onError(Throwable error) {
      broken(this, error);
    }

    @Override
    public void onCompleted() {
      broken(this, io.grpc.Status.UNAVAILABLE.withDescription("stream ended").asException());
    }
  }

  private void ended(List<WorkflowEnd> ends) {
    List<Watch> found = new ArrayList<>(ends.size());
    lock.lock();
    try {
      backoff.reset();
      for (WorkflowEnd end : ends) {
        found.add(watches.remove(end.getRunId()));
      }
    } finally {
      lock.unlock();
    }
    for (int i = 0; i < ends.size(); i++) {
      Watch watch = found.get(i);
      if (watch != null) {
        watch.end.complete(ends.get(i));
      }
    }
  }

  private void broken(Stream broken, Throwable error) {
    List<Watch> given = List.of();
    lock.lock();
    try {
      if (stream != broken) {
        return;
      }
      stream = null;
      if (!RpcErrors.isTransient(error)) {
        given = List.copyOf(watches.values());
        watches.clear();
      } else if (!closed) {
        reopening = true;
        connection.after(backoff.nextMs(), this::reopen);
      }
    } finally {
      lock.unlock();
    }
    fail(given, RpcErrors.toException(connection.at("wait for a run"), error));
  }

  private void reopen() {
    lock.lock();
    try {
      reopening = false;
      if (!closed && !watches.isEmpty()) {
        send();
      }
    } finally {
      lock.unlock();
    }
  }

  private static void fail(List<Watch> watches, RuntimeException error) {
    for (Watch watch : watches) {
      watch.end.completeExceptionally(error);
    }
  }
}
