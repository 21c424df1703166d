package dev.kagzi.server.grpc;

import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.protocol.v1.WatchWorkflowsResponse;
import dev.kagzi.protocol.v1.WorkflowEnd;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The completions that wait to be sent over a watch stream, limited in bytes. Above the limit, only
 * the id of the run is kept, and its completion is queried again when the queue is empty.
 * Thread-safe.
 */
final class CompletionQueue {
  private static final long QUEUED_BYTES_MAX = 8L << 20;
  private static final long MESSAGE_BYTES_MAX = 1L << 20;
  private static final int DEFERRED_BATCH = 64;
  private static final int END_BYTES = 64;

  private record Queued(WorkflowEnd end, long bytes) {}

  private final CallMemory memory;
  private final ArrayDeque<Queued> queued = new ArrayDeque<>();
  private final ArrayDeque<RunId> deferred = new ArrayDeque<>();
  private long queuedBytes;
  private boolean closed;

  CompletionQueue(CallMemory memory) {
    this.memory = memory;
  }

  synchronized void add(RunId run, Optional<RunEnd> end) {
    long bytes = end.map(CompletionQueue::bytes).orElse((long) END_BYTES);
    if (closed) {
      return;
    }
    if (!fits(bytes)) {
      deferred.add(run);
    } else {
      push(
          end.map(found -> ResponseMapper.end(run, found))
              .orElseGet(() -> ResponseMapper.noSuchRun(run)),
          bytes);
    }
  }

  // An empty queue accepts any size. Otherwise a large deferred completion would never be sent.
  private boolean fits(long bytes) {
    if (queuedBytes == 0) {
      memory.addResponse(bytes);
      return true;
    }
    return queuedBytes + bytes <= QUEUED_BYTES_MAX && memory.tryReserveResponse(bytes);
  }

  synchronized void add(WorkflowEnd end) {
    if (!closed) {
      memory.addResponse(END_BYTES);
      push(end, END_BYTES);
    }
  }

  private void push(WorkflowEnd end, long bytes) {
    queued.add(new Queued(end, bytes));
    queuedBytes += bytes;
  }

  /** Returns as many completions as one message carries, or null if none is queued. */
  synchronized @Nullable WatchWorkflowsResponse next() {
    if (queued.isEmpty()) {
      return null;
    }
    WatchWorkflowsResponse.Builder message = WatchWorkflowsResponse.newBuilder();
    long bytes = 0;
    while (!queued.isEmpty()
        && (bytes == 0 || bytes + queued.element().bytes() <= MESSAGE_BYTES_MAX)) {
      Queued end = queued.remove();
      message.addEnds(end.end());
      bytes += end.bytes();
    }
    queuedBytes -= bytes;
    memory.releaseResponse(bytes);
    return message.build();
  }

  /** Returns deferred runs to query again; empty while other completions are queued. */
  synchronized List<RunId> deferred() {
    return queued.isEmpty() && !deferred.isEmpty()
        ? deferred.stream().limit(DEFERRED_BATCH).toList()
        : List.of();
  }

  synchronized void removeDeferred(int count) {
    for (int i = 0; i < count; i++) {
      deferred.remove();
    }
  }

  synchronized boolean hasDeferred() {
    return !deferred.isEmpty();
  }

  synchronized void close() {
    closed = true;
    queued.clear();
    memory.releaseResponse(queuedBytes);
    queuedBytes = 0;
  }

  synchronized int size() {
    return queued.size() + deferred.size();
  }

  private static long bytes(RunEnd end) {
    long bytes = END_BYTES;
    if (end.output() != null) {
      bytes += end.output().bytes();
    }
    if (end.failure() != null) {
      bytes += end.failure().bytes();
    }
    return bytes;
  }
}
