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
 * Sends starts. One alone goes out at once, in its caller's thread; those that arrive while calls
 * are under way go together in the next. Thread-safe.
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

  /** The calls that are under way. */
  private final Set<Answer> calls = new HashSet<>();

  private boolean paused;
  private boolean expiryScheduled;

  /** When the server last answered a start. */
  private long answeredNanos = System.nanoTime();

  /** Why the latest call that is sent again failed; null since the server has answered again. */
  private @Nullable Throwable lastError;

  private boolean closed;

  public StartBatcher(Connection connection) {
    this.connection = connection;
  }

  private static final class Pending {
    final StartWorkflowRequest request;
    final int bytes;
    final long sinceNanos = System.nanoTime();
    final CompletableFuture<StartWorkflowResponse> answer = new CompletableFuture<>();

    Pending(StartWorkflowRequest request) {
      this.request = request;
      this.bytes = request.getSerializedSize();
    }
  }

  /** The answer comes on a thread of the channel: do nothing there that takes time. */
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
    sendWhatWaits();
    return start.answer;
  }

  /** Fails what waits. */
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

  private void sendWhatWaits() {
    for (Answer call = nextCall(); call != null; call = nextCall()) {
      send(call);
    }
  }

  private @Nullable Answer nextCall() {
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
      Answer call = new Answer(batch);
      calls.add(call);
      return call;
    } finally {
      lock.unlock();
    }
  }

  private void send(Answer call) {
    StartWorkflowsRequest.Builder request =
        StartWorkflowsRequest.newBuilder().setNamespace(connection.namespace());
    for (Pending start : call.batch) {
      request.addStarts(start.request);
    }
    try {
      connection.workflows(ANSWER_MS).startWorkflows(request.build(), call);
    } catch (RuntimeException e) {
      // An interceptor of the application may throw.
      failed(call, e);
    }
  }

  /**
   * Fails starts that have waited for the call timeout, counted from the last answer of the server:
   * a long queue that the server works through is no reason to give up. One timer serves all.
   */
  private void expire() {
    List<Pending> over = new ArrayList<>();
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
          over.add(start);
        } else {
          longestNanos = Math.max(longestNanos, waitedNanos);
        }
      }
      waiting.removeAll(Set.copyOf(over));
      if (longestNanos >= 0) {
        expireIn(timeoutNanos - longestNanos);
      }
    } finally {
      lock.unlock();
    }
    if (!over.isEmpty()) {
      fail(over, toException(reason));
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
    for (Answer call : calls) {
      call.batch.stream().filter(start -> !start.answer.isDone()).forEach(found::add);
    }
    return found;
  }

  // Under the lock.
  private long waitedNanos(Pending start, long nowNanos) {
    return Math.min(nowNanos - start.sinceNanos, nowNanos - answeredNanos);
  }

  private KagziException toException(@Nullable Throwable reason) {
    return reason == null || RpcErrors.isNoAnswer(reason)
        ? connection.noAnswer("start", connection.callTimeout(), reason)
        : RpcErrors.toException(connection.at("start"), reason);
  }

  private final class Answer implements StreamObserver<StartWorkflowsResponse> {
    private final List<Pending> batch;
    private @Nullable StartWorkflowsResponse response;

    Answer(List<Pending> batch) {
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
        failed(this, new IllegalStateException("start: the answer has not one result per start"));
      } else {
        answered(this, answered);
      }
    }
  }

  private void answered(Answer call, StartWorkflowsResponse response) {
    List<Pending> batch = call.batch;
    List<Pending> again = notWritten(batch, response);
    lock.lock();
    try {
      calls.remove(call);
      lastError = null;
      // A server that could write nothing of it is to be asked less and less often.
      if (again.size() < batch.size()) {
        backoff.reset();
        answeredNanos = System.nanoTime();
      }
    } finally {
      lock.unlock();
    }
    // What has gathered goes out first, so that the server is not kept waiting for work.
    sendWhatWaits();
    for (int i = 0; i < batch.size(); i++) {
      if (!isPassing(response.getResults(i))) {
        answer(batch.get(i), response.getResults(i));
      }
    }
    if (!again.isEmpty()) {
      sendAgain(again, response);
    }
  }

  private static List<Pending> notWritten(List<Pending> batch, StartWorkflowsResponse response) {
    List<Pending> found = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      if (isPassing(response.getResults(i))) {
        found.add(batch.get(i));
      }
    }
    return found;
  }

  /**
   * The server could not write the start just now; whether it did is answered when it is sent
   * again.
   */
  private static boolean isPassing(StartResult result) {
    ErrorDetail refused = result.getRefused();
    return result.hasRefused()
        && refused.getCode() == ErrorCode.ERROR_CODE_UNAVAILABLE
        && !refused.getNonRetryable();
  }

  private void sendAgain(List<Pending> batch, StartWorkflowsResponse response) {
    List<Pending> given = new ArrayList<>();
    String why =
        response.getResultsList().stream()
            .filter(StartBatcher::isPassing)
            .findFirst()
            .map(result -> result.getRefused().getMessage())
            .orElse("");
    ServerUnavailableException reason =
        new ServerUnavailableException(
            "%s: the server could not write it: %s".formatted(connection.at("start"), why), null);
    lock.lock();
    try {
      lastError = reason;
      if (closed) {
        given.addAll(batch);
      } else {
        putBack(batch, given);
        pause();
      }
    } finally {
      lock.unlock();
    }
    fail(given, reason);
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

  // Its output is something else than the caller expects.
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

  private static KagziException refused(StartWorkflowRequest start, ErrorDetail why) {
    String message = "start of %s refused: %s".formatted(start.getWorkflowType(), why.getMessage());
    // The run's own id is fresh: what is taken can only be the other.
    if (start.getIdConflictPolicy() == IdConflictPolicy.ID_CONFLICT_POLICY_REJECT
        && why.getCode() == ErrorCode.ERROR_CODE_CONFLICT) {
      return new RunExistsException(start.getExternalId(), why.getSubjectId(), message);
    }
    String code = RpcErrors.refusalCode(why);
    return new RequestRefusedException(
        code.isEmpty() ? why.getCode().name().replaceFirst("^ERROR_CODE_", "") : code,
        message,
        null);
  }

  private void failed(Answer call, Throwable error) {
    List<Pending> batch = call.batch;
    boolean again = RpcErrors.isTransient(error) && !tooLarge(batch, error);
    List<Pending> given = new ArrayList<>();
    lock.lock();
    try {
      calls.remove(call);
      // A refusal is the answer to this call alone: other starts may have been written.
      if (again) {
        lastError = error;
      }
      if (again && !closed) {
        putBack(batch, given);
        pause();
      } else {
        given.addAll(batch);
      }
    } finally {
      lock.unlock();
    }
    fail(given, toException(error));
    sendWhatWaits();
  }

  // The transport refuses a message over its limit with the same code as a server that is busy.
  private static boolean tooLarge(List<Pending> batch, Throwable error) {
    return batch.size() == 1
        && batch.getFirst().bytes > CALL_BYTES_MAX
        && RpcErrors.isTooLarge(error);
  }

  private void putBack(List<Pending> batch, List<Pending> given) {
    long now = System.nanoTime();
    for (Pending start : batch.reversed()) {
      if (start.answer.isDone()) {
        continue;
      }
      if (waitedNanos(start, now) >= connection.callTimeout().toNanos()) {
        given.add(start);
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
    sendWhatWaits();
  }

  private static void fail(List<Pending> starts, RuntimeException error) {
    for (Pending start : starts) {
      start.answer.completeExceptionally(error);
    }
  }
}
