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
import dev.kagzi.sdk.internal.wire.BatchSender;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.RpcErrors;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Sends the starts of a client, and retries each until the call timeout. Thread-safe. */
public final class StartBatcher
    extends BatchSender<StartBatcher.Pending, StartWorkflowsResponse, StartResult> {
  private static final int CALL_STARTS_MAX = 500;
  private static final long ANSWER_MS = 10_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Set<Pending> unanswered = new HashSet<>();
  private boolean expiryScheduled;

  /** When the server last answered a start. */
  private long answeredNanos = System.nanoTime();

  public StartBatcher(Connection connection) {
    super(connection, "start", CALL_STARTS_MAX, new Backoff(50, 2_000));
  }

  static final class Pending extends Item<Pending> {
    private final StartWorkflowRequest request;
    private final long createdNanos = System.nanoTime();
    private final CompletableFuture<StartWorkflowResponse> answer = new CompletableFuture<>();

    private Pending(Lane<Pending> lane, StartWorkflowRequest request) {
      super(lane, request.getSerializedSize());
      this.request = request;
    }

    @Override
    protected boolean isDone() {
      return answer.isDone();
    }
  }

  /** Sends a start. The future completes on a gRPC thread, so its callbacks must not block. */
  public CompletableFuture<StartWorkflowResponse> start(StartWorkflowRequest request) {
    Lane<Pending> lane = new Lane<>();
    Pending start = new Pending(lane, request);
    lock.lock();
    try {
      unanswered.add(start);
      expireIn(connection.callTimeout().toNanos());
    } finally {
      lock.unlock();
    }
    send(lane, List.of(start));
    return start.answer;
  }

  public void close() {
    close(new ServerUnavailableException("start: the client was closed before it was sent", null));
  }

  @Override
  protected void call(List<Pending> batch, StreamObserver<StartWorkflowsResponse> answer) {
    StartWorkflowsRequest.Builder request =
        StartWorkflowsRequest.newBuilder().setNamespace(connection.namespace());
    batch.forEach(start -> request.addStarts(start.request));
    connection.workflows(ANSWER_MS).startWorkflows(request.build(), answer);
  }

  @Override
  protected List<StartResult> results(StartWorkflowsResponse response) {
    return response.getResultsList();
  }

  /**
   * Fails starts that waited longer than the call timeout. The time counts from the call or, if
   * later, from the server's last answer, so a long queue that makes progress does not expire. One
   * timer serves all starts.
   */
  private void expire() {
    List<Pending> expired = new ArrayList<>();
    long timeoutNanos = connection.callTimeout().toNanos();
    lock.lock();
    try {
      expiryScheduled = false;
      long now = System.nanoTime();
      long longestNanos = -1;
      for (Pending start : unanswered) {
        long waitedNanos = Math.min(now - start.createdNanos, now - answeredNanos);
        if (waitedNanos >= timeoutNanos) {
          expired.add(start);
        } else {
          longestNanos = Math.max(longestNanos, waitedNanos);
        }
      }
      if (longestNanos >= 0) {
        expireIn(timeoutNanos - longestNanos);
      }
    } finally {
      lock.unlock();
    }
    if (!expired.isEmpty()) {
      KagziException reason = toException(lastError());
      expired.forEach(start -> failed(start, reason));
      removeDone();
    }
  }

  // Requires the lock.
  private void expireIn(long nanos) {
    if (!expiryScheduled) {
      expiryScheduled = true;
      connection.after(TimeUnit.NANOSECONDS.toMillis(nanos) + 1, this::expire);
    }
  }

  private KagziException toException(@Nullable Throwable reason) {
    if (reason instanceof KagziException known) {
      return known;
    }
    return reason == null || RpcErrors.isNoAnswer(reason)
        ? connection.noAnswer("start", connection.callTimeout(), reason)
        : RpcErrors.toException(connection.at("start"), reason);
  }

  /**
   * A start that the server could not write is sent again. The answer to the repeated start shows
   * whether the first one was written after all.
   */
  @Override
  protected @Nullable Throwable temporaryRefusal(StartResult result) {
    ErrorDetail refused = result.getRefused();
    return result.hasRefused()
            && refused.getCode() == ErrorCode.ERROR_CODE_UNAVAILABLE
            && !refused.getNonRetryable()
        ? new ServerUnavailableException(
            "%s: the server could not write it: %s"
                .formatted(connection.at("start"), refused.getMessage()),
            null)
        : null;
  }

  @Override
  protected Retry afterFailure(List<Pending> batch, Throwable error) {
    return RpcErrors.isTransient(error) && !isTooLarge(batch, error) ? Retry.YES : Retry.NO;
  }

  @Override
  protected void failed(Pending start, Throwable error) {
    forget(start, false);
    start.answer.completeExceptionally(toException(error));
  }

  @Override
  protected void answered(Pending start, StartResult result) {
    forget(start, true);
    if (result.hasStarted() && isOfOtherType(start.request, result.getStarted())) {
      start.answer.completeExceptionally(otherType(start.request, result.getStarted()));
    } else if (result.hasStarted()) {
      start.answer.complete(result.getStarted());
    } else {
      start.answer.completeExceptionally(refused(start.request, result.getRefused()));
    }
  }

  private void forget(Pending start, boolean answered) {
    lock.lock();
    try {
      unanswered.remove(start);
      if (answered) {
        answeredNanos = System.nanoTime();
      }
    } finally {
      lock.unlock();
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
    // The server recognizes a repeated run id, so the conflict is about the external id.
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
}
