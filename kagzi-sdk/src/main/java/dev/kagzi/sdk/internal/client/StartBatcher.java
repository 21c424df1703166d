package dev.kagzi.sdk.internal.client;

import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.IdConflictPolicy;
import dev.kagzi.protocol.v1.StartResult;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.protocol.v1.StartWorkflowsRequest;
import dev.kagzi.protocol.v1.StartWorkflowsResponse;
import dev.kagzi.sdk.KagziException;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.RunExistsException;
import dev.kagzi.sdk.ServerUnavailableException;
import dev.kagzi.sdk.internal.wire.Backoff;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.RpcErrors;
import io.grpc.Context;
import io.grpc.stub.StreamObserver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Sends starts in batches. A single start is sent immediately on the caller's thread; starts that
 * arrive while calls are in flight share the next call. Thread-safe.
 */
public final class StartBatcher {
  private static final int CALLS_MAX = 2;
  private static final int CALL_STARTS_MAX = 500;
  private static final int CALL_BYTES_MAX = 3 << 20;
  private static final long ANSWER_MS = 10_000;

  private final Connection connection;
  private final ReentrantLock lock = new ReentrantLock();
  private final ArrayDeque<Pending> waiting = new ArrayDeque<>();
  private final Backoff backoff = new Backoff(50, 2_000);

  /** The calls in flight. */
  private final Set<Call> calls = new HashSet<>();

  private boolean paused;
  private boolean expiryScheduled;

  /** When the server last answered a start. */
  private long answeredNanos = System.nanoTime();

  /** The error of the latest call that is retried; null after a successful call. */
  private @Nullable Throwable lastError;

  private boolean closed;

  public StartBatcher(Connection connection) {
    this.connection = connection;
  }

  private static final class Pending {
    final StartWorkflowRequest request;
    final int bytes;
    final long createdNanos = System.nanoTime();
    final CompletableFuture<StartWorkflowResponse> answer = new CompletableFuture<>();

    Pending(StartWorkflowRequest request) {
      this.request = request;
      this.bytes = request.getSerializedSize();
    }
  }

  /** Sends a start. The future completes on a gRPC thread, so its callbacks must not block. */
  public CompletableFuture<StartWorkflowResponse> start(StartWorkflowRequest request) {
    Pending start = new Pending(request);
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("client: closed (expected: open)");
      }
      waiting.add(start);
      expireIn(connection.callTimeout().toNanos());
    } finally {
      lock.unlock();
    }
    sendWaiting();
    return start.answer;
  }

  /** Fails all starts that were not sent. */
  public void close() {
    List<Pending> left;
    lock.lock();
    try {
      closed = true;
      left = List.copyOf(waiting);
      waiting.clear();
    } finally {
      lock.unlock();
    }
    fail(
        left,
        new ServerUnavailableException("start: the client was closed before it was sent", null));
  }

  private void sendWaiting() {
    for (Call call = nextCall(); call != null; call = nextCall()) {
      send(call);
    }
  }

  private @Nullable Call nextCall() {
    lock.lock();
    try {
      if (paused || calls.size() == CALLS_MAX || waiting.isEmpty()) {
        return null;
      }
      List<Pending> batch = new ArrayList<>();
      int bytes = 0;
      while (!waiting.isEmpty() && batch.size() < CALL_STARTS_MAX) {
        bytes += waiting.getFirst().bytes;
        if (bytes > CALL_BYTES_MAX && !batch.isEmpty()) {
          break;
        }
        batch.add(waiting.removeFirst());
      }
      Call call = new Call(batch);
      calls.add(call);
      return call;
    } finally {
      lock.unlock();
    }
  }

  private void send(Call call) {
    StartWorkflowsRequest.Builder request =
        StartWorkflowsRequest.newBuilder().setNamespace(connection.namespace());
    for (Pending start : call.batch) {
      request.addStarts(start.request);
    }
    try {
      // A call carries starts of many callers: the gRPC context of one must not cancel it.
      Context.ROOT.run(() -> connection.workflows(ANSWER_MS).startWorkflows(request.build(), call));
    } catch (RuntimeException e) {
      // An interceptor of the application may throw.
      failed(call, e);
    }
  }

  /**
   * Fails starts that waited longer than the call timeout. The time is measured from the server's
   * last answer, so a long queue that makes progress does not expire. One timer serves all starts.
   */
  private void expire() {
    List<Pending> expired = new ArrayList<>();
    Throwable reason;
    long timeoutNanos = connection.callTimeout().toNanos();
    lock.lock();
    try {
      expiryScheduled = false;
      reason = lastError;
      long now = System.nanoTime();
      long longestNanos = -1;
      for (Pending start : unanswered()) {
        long waitedNanos = waitedNanos(start, now);
        if (waitedNanos >= timeoutNanos) {
          expired.add(start);
        } else {
          longestNanos = Math.max(longestNanos, waitedNanos);
        }
      }
      waiting.removeAll(Set.copyOf(expired));
      if (longestNanos >= 0) {
        expireIn(timeoutNanos - longestNanos);
      }
    } finally {
      lock.unlock();
    }
    if (!expired.isEmpty()) {
      fail(expired, toException(reason));
    }
  }

  // Under the lock.
  private void expireIn(long nanos) {
    if (!expiryScheduled && !closed) {
      expiryScheduled = true;
      connection.after(TimeUnit.NANOSECONDS.toMillis(nanos) + 1, this::expire);
    }
  }

  // Under the lock.
  private List<Pending> unanswered() {
    List<Pending> found = new ArrayList<>(waiting);
    for (Call call : calls) {
      call.batch.stream().filter(start -> !start.answer.isDone()).forEach(found::add);
    }
    return found;
  }

  // Under the lock.
  private long waitedNanos(Pending start, long nowNanos) {
    return Math.min(nowNanos - start.createdNanos, nowNanos - answeredNanos);
  }

  private KagziException toException(@Nullable Throwable reason) {
    return reason == null || RpcErrors.isNoAnswer(reason)
        ? connection.noAnswer("start", connection.callTimeout(), reason)
        : RpcErrors.toException(connection.at("start"), reason);
  }

  private final class Call implements StreamObserver<StartWorkflowsResponse> {
    private final List<Pending> batch;
    private @Nullable StartWorkflowsResponse response;

    Call(List<Pending> batch) {
      this.batch = batch;
    }

    @Override
    public void onNext(StartWorkflowsResponse response) {
      this.response = response;
    }

    @Override
    public void onError(Throwable error) {
      failed(this, error);
    }

    @Override
    public void onCompleted() {
      StartWorkflowsResponse answered = response;
      if (answered == null || answered.getResultsCount() != batch.size()) {
        failed(
            this,
            new IllegalStateException("start: the response does not contain one result per start"));
      } else {
        answered(this, answered);
      }
    }
  }

  private void answered(Call call, StartWorkflowsResponse response) {
    List<Pending> batch = call.batch;
    List<Pending> retryable = temporarilyRefused(batch, response);
    lock.lock();
    try {
      calls.remove(call);
      lastError = null;
      // If the server wrote none of the batch, the back-off must keep growing.
      if (retryable.size() < batch.size()) {
        backoff.reset();
        answeredNanos = System.nanoTime();
      }
    } finally {
      lock.unlock();
    }
    // Send the next batch before completing futures, so that the server is not idle meanwhile.
    sendWaiting();
    for (int i = 0; i < batch.size(); i++) {
      if (!isTemporaryRefusal(response.getResults(i))) {
        answer(batch.get(i), response.getResults(i));
      }
    }
    if (!retryable.isEmpty()) {
      retryLater(retryable, response);
    }
  }

  private static List<Pending> temporarilyRefused(
      List<Pending> batch, StartWorkflowsResponse response) {
    List<Pending> found = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      if (isTemporaryRefusal(response.getResults(i))) {
        found.add(batch.get(i));
      }
    }
    return found;
  }

  /**
   * Returns whether the server could not write the start now. A retry finds out whether it was
   * written after all.
   */
  private static boolean isTemporaryRefusal(StartResult result) {
    ErrorDetail refused = result.getRefused();
    return result.hasRefused()
        && refused.getCode() == ErrorCode.ERROR_CODE_UNAVAILABLE
        && !refused.getNonRetryable();
  }

  private void retryLater(List<Pending> batch, StartWorkflowsResponse response) {
    List<Pending> failed = new ArrayList<>();
    String refusal =
        response.getResultsList().stream()
            .filter(StartBatcher::isTemporaryRefusal)
            .findFirst()
            .map(result -> result.getRefused().getMessage())
            .orElse("");
    ServerUnavailableException reason =
        new ServerUnavailableException(
            "%s: the server could not write it: %s".formatted(connection.at("start"), refusal),
            null);
    lock.lock();
    try {
      lastError = reason;
      if (closed) {
        failed.addAll(batch);
      } else {
        requeue(batch, failed);
        pause();
      }
    } finally {
      lock.unlock();
    }
    fail(failed, reason);
  }

  private static void answer(Pending start, StartResult result) {
    if (result.hasStarted() && isOfOtherType(start.request, result.getStarted())) {
      start.answer.completeExceptionally(otherType(start.request, result.getStarted()));
    } else if (result.hasStarted()) {
      start.answer.complete(result.getStarted());
    } else {
      start.answer.completeExceptionally(refused(start.request, result.getRefused()));
    }
  }

  private static boolean isOfOtherType(StartWorkflowRequest start, StartWorkflowResponse found) {
    return found.getAlreadyExists()
        && !found.getWorkflowType().isEmpty()
        && !found.getWorkflowType().equals(start.getWorkflowType());
  }

  // The output of a run of another type is not what the caller expects.
  private static KagziException otherType(StartWorkflowRequest start, StartWorkflowResponse found) {
    return new RunExistsException(
        start.getExternalId(),
        found.getRunId(),
        "start of %s refused: id %s is that of run %s of type %s (expected: a run of type %s)"
            .formatted(
                start.getWorkflowType(),
                start.getExternalId(),
                found.getRunId(),
                found.getWorkflowType(),
                start.getWorkflowType()));
  }

  private static KagziException refused(StartWorkflowRequest start, ErrorDetail refusal) {
    String message =
        "start of %s refused: %s".formatted(start.getWorkflowType(), refusal.getMessage());
    // The run id is new, so the conflict can only be about the external id.
    if (start.getIdConflictPolicy() == IdConflictPolicy.ID_CONFLICT_POLICY_REJECT
        && refusal.getCode() == ErrorCode.ERROR_CODE_CONFLICT) {
      return new RunExistsException(start.getExternalId(), refusal.getSubjectId(), message);
    }
    String code = RpcErrors.refusalCode(refusal);
    return new RequestRefusedException(
        code.isEmpty() ? refusal.getCode().name().replaceFirst("^ERROR_CODE_", "") : code,
        message,
        null);
  }

  private void failed(Call call, Throwable error) {
    List<Pending> batch = call.batch;
    boolean retryable = RpcErrors.isTransient(error) && !tooLarge(batch, error);
    List<Pending> failed = new ArrayList<>();
    lock.lock();
    try {
      calls.remove(call);
      // A refusal concerns only this call; other starts may have been written.
      if (retryable) {
        lastError = error;
      }
      if (retryable && !closed) {
        requeue(batch, failed);
        pause();
      } else {
        failed.addAll(batch);
      }
    } finally {
      lock.unlock();
    }
    fail(failed, toException(error));
    sendWaiting();
  }

  // gRPC reports a message over the size limit with the status code of an overloaded server.
  private static boolean tooLarge(List<Pending> batch, Throwable error) {
    return batch.size() == 1
        && batch.getFirst().bytes > CALL_BYTES_MAX
        && RpcErrors.isTooLarge(error);
  }

  private void requeue(List<Pending> batch, List<Pending> failed) {
    long now = System.nanoTime();
    for (Pending start : batch.reversed()) {
      if (start.answer.isDone()) {
        continue;
      }
      if (waitedNanos(start, now) >= connection.callTimeout().toNanos()) {
        failed.add(start);
      } else {
        waiting.addFirst(start);
      }
    }
  }

  private void pause() {
    if (!paused) {
      paused = true;
      connection.after(backoff.nextMs(), this::resume);
    }
  }

  private void resume() {
    lock.lock();
    try {
      paused = false;
    } finally {
      lock.unlock();
    }
    sendWaiting();
  }

  private static void fail(List<Pending> starts, RuntimeException error) {
    for (Pending start : starts) {
      start.answer.completeExceptionally(error);
    }
  }
}
