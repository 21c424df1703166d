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

/** Waits for ends of runs over one gRPC stream, reopened after it breaks. Thread-safe. */
public final class RunWatcher {
  private static final int MESSAGE_IDS_MAX = 5_000;

  /** With more watched runs than {@link #AT_ONCE_MAX}, requests are at least this far apart. */
  private static final long BATCH_MS = 1;

  // Up to this number of watched runs, requests are sent at once. Collecting them would cost a
  // caller that waits for one run after the other 0.7 ms per run.
  private static final int AT_ONCE_MAX = 8;

  private final Connection connection;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Watch> watches = new HashMap<>();
  private final Backoff backoff = new Backoff(50, 2_000);
  private List<String> toWatch = new ArrayList<>();
  private List<String> toUnwatch = new ArrayList<>();
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

  /** The future completes on a gRPC thread or in {@link #close}: callbacks must not block. */
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
        scheduleSend();
      }
      watch.waiters++;
      return watch.end;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Removes one waiter. After the last one, the server stops watching the run.
   *
   * @param end the future of this waiter; if it has completed meanwhile, later waiters of the run
   *     are not affected
   */
  @SuppressWarnings("ReferenceEquality")
  public void unwatch(String runId, CompletableFuture<WorkflowEnd> end) {
    lock.lock();
    try {
      Watch watch = watches.get(runId);
      if (watch != null && watch.end == end && --watch.waiters == 0) {
        watches.remove(runId);
        toUnwatch.add(runId);
        scheduleSend();
      }
    } finally {
      lock.unlock();
    }
  }

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

  private void scheduleSend() {
    if (sendScheduled || reopening) {
      return;
    }
    if (watches.size() <= AT_ONCE_MAX || System.nanoTime() - sentNanos >= BATCH_MS * 1_000_000L) {
      send();
    } else {
      sendScheduled = true;
      connection.after(BATCH_MS, this::onSendTimer);
    }
  }

  private void onSendTimer() {
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

  // Called under the lock: a gRPC stream allows one writer at a time, and the order of messages
  // matters.
  private void send() {
    sentNanos = System.nanoTime();
    Stream open = stream;
    if (open == null) {
      open = new Stream();
      stream = open;
      open.open();
      if (stream != open) {
        // An interceptor of the application threw, so the stream is broken already.
        return;
      }
      toWatch = new ArrayList<>(watches.keySet());
      toUnwatch.clear();
    }
    // Forget before watch: a run that is in both lists must stay watched.
    if (!toUnwatch.isEmpty()) {
      open.requests().onNext(message().addAllForgetRunIds(toUnwatch).build());
    }
    for (int from = 0; from < toWatch.size(); from += MESSAGE_IDS_MAX) {
      List<String> part = toWatch.subList(from, Math.min(toWatch.size(), from + MESSAGE_IDS_MAX));
      open.requests().onNext(message().addAllWatchRunIds(part).build());
    }
    toWatch = new ArrayList<>();
    toUnwatch = new ArrayList<>();
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
    List<Watch> failed = List.of();
    lock.lock();
    try {
      if (stream != broken) {
        return;
      }
      stream = null;
      if (!RpcErrors.isTransient(error)) {
        failed = List.copyOf(watches.values());
        watches.clear();
      } else if (!closed) {
        reopening = true;
        connection.after(backoff.nextMs(), this::reopen);
      }
    } finally {
      lock.unlock();
    }
    fail(failed, RpcErrors.toException(connection.at("wait for a run"), error));
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
