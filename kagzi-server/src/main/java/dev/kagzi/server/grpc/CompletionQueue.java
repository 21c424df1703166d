package dev.kagzi.server.grpc;

import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.protocol.v1.WatchWorkflowsResponse;
import dev.kagzi.protocol.v1.WorkflowEnd;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Ends of runs that wait to be sent, bounded in bytes: past the bound only the run's id is kept,
 * and its end is left out until the queue is empty again. Thread-safe.
 */
final class CompletionQueue {
  private static final long QUEUED_BYTES_MAX = 8L << 20;
  private static final long MESSAGE_BYTES_MAX = 1L << 20;
  private static final int LEFT_OUT_BATCH = 64;
  private static final int END_BYTES = 64;

  private record Queued(WorkflowEnd end, long bytes) {}

  private final CallMemory memory;
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Queued> queued = new ArrayDeque<>();
  private final ArrayDeque<RunId> leftOut = new ArrayDeque<>();
  private long queuedBytes;
  private boolean closed;

  CompletionQueue(CallMemory memory) {
    this.memory = memory;
  }

  /** An end, or nothing for a run that is not there. */
  void add(RunId run, Optional<RunEnd> end) {
    long bytes = end.map(CompletionQueue::bytes).orElse((long) END_BYTES);
    lock.lock();
    try {
      if (closed) {
        return;
      }
      if (!fits(bytes)) {
        leftOut.add(run);
      } else {
        push(end.map(ResponseMapper::end).orElseGet(() -> ResponseMapper.noSuchRun(run)), bytes);
      }
    } finally {
      lock.unlock();
    }
  }

  // What is left out is asked for when the queue is empty again: an empty one has to take it.
  private boolean fits(long bytes) {
    if (queuedBytes == 0) {
      memory.addAnswer(bytes);
      return true;
    }
    return queuedBytes + bytes <= QUEUED_BYTES_MAX && memory.tryAcquireAnswer(bytes);
  }

  /** An end that is known without asking. */
  void add(WorkflowEnd end) {
    lock.lock();
    try {
      if (!closed) {
        memory.addAnswer(END_BYTES);
        push(end, END_BYTES);
      }
    } finally {
      lock.unlock();
    }
  }

  private void push(WorkflowEnd end, long bytes) {
    queued.add(new Queued(end, bytes));
    queuedBytes += bytes;
  }

  /** As many ends as one message carries, or null when none is queued. */
  @Nullable WatchWorkflowsResponse next() {
    lock.lock();
    try {
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
      memory.releaseAnswer(bytes);
      return message.build();
    } finally {
      lock.unlock();
    }
  }

  /** Runs whose ends can be asked for again, now that nothing else waits. */
  List<RunId> leftOut() {
    lock.lock();
    try {
      return queued.isEmpty() && !leftOut.isEmpty()
          ? leftOut.stream().limit(LEFT_OUT_BATCH).toList()
          : List.of();
    } finally {
      lock.unlock();
    }
  }

  /** The first of them have been asked for. */
  void askedAgain(int count) {
    lock.lock();
    try {
      for (int i = 0; i < count; i++) {
        leftOut.remove();
      }
    } finally {
      lock.unlock();
    }
  }

  boolean hasLeftOut() {
    lock.lock();
    try {
      return !leftOut.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Nobody will read what is queued. */
  void close() {
    lock.lock();
    try {
      closed = true;
      queued.clear();
      memory.releaseAnswer(queuedBytes);
      queuedBytes = 0;
    } finally {
      lock.unlock();
    }
  }

  int size() {
    lock.lock();
    try {
      return queued.size() + leftOut.size();
    } finally {
      lock.unlock();
    }
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
