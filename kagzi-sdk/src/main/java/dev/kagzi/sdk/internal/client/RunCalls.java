package dev.kagzi.sdk.internal.client;

import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.AnswerCallbackRequest;
import dev.kagzi.protocol.v1.AnswerCallbackResponse;
import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.ExplainWorkflowRequest;
import dev.kagzi.protocol.v1.ExplainWorkflowResponse;
import dev.kagzi.protocol.v1.GetPublishedRequest;
import dev.kagzi.protocol.v1.GetPublishedResponse;
import dev.kagzi.protocol.v1.GetWorkflowByExternalIdRequest;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.ListSignalsRequest;
import dev.kagzi.protocol.v1.ListSignalsResponse;
import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.ListStepsResponse;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.ListWorkflowsResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.ResumeWorkflowRequest;
import dev.kagzi.protocol.v1.RetryWorkflowRequest;
import dev.kagzi.protocol.v1.RetryWorkflowResponse;
import dev.kagzi.protocol.v1.Signal;
import dev.kagzi.protocol.v1.SignalOrStartWorkflowRequest;
import dev.kagzi.protocol.v1.SignalOrStartWorkflowResponse;
import dev.kagzi.protocol.v1.SignalWorkflowRequest;
import dev.kagzi.protocol.v1.SignalWorkflowResponse;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.TerminateWorkflowRequest;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.protocol.v1.WorkflowEnd;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.sdk.KagziException;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.ResultTimeoutException;
import dev.kagzi.sdk.RunCancelledException;
import dev.kagzi.sdk.RunExistsException;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunNotFoundException;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WaitInterruptedException;
import dev.kagzi.sdk.internal.history.HistoryFile;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.Payloads;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import dev.kagzi.sdk.internal.wire.RequestIds;
import dev.kagzi.sdk.internal.wire.RunIds;
import io.grpc.Context;
import io.grpc.MethodDescriptor;
import io.grpc.stub.StreamObserver;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The client's operations on runs. Thread-safe. */
public final class RunCalls {
  private static final int STEPS_PAGE_SIZE = 100;

  /** Shorter than the deadline of a call. */
  private static final long PUBLISHED_WAIT_MS = 5_000;

  /** Less than the time for which a server polls often after a request for an unknown run. */
  private static final long EXPECT_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final long EXPECT_ANSWER_MS = 5_000;

  private final Connection connection;
  private final Payloads payloads;
  private final QueueHints queueHints = new QueueHints();
  private final StartBatcher startBatcher;
  private final RunWatcher runWatcher;
  private final AtomicLong expectedNanos = new AtomicLong(System.nanoTime() - EXPECT_NANOS - 1);

  public RunCalls(Connection connection, Payloads payloads) {
    this.connection = connection;
    this.payloads = payloads;
    this.startBatcher = new StartBatcher(connection);
    this.runWatcher = new RunWatcher(connection);
  }

  public String namespace() {
    return connection.namespace();
  }

  public Payloads payloads() {
    return payloads;
  }

  public QueueHints queueHints() {
    return queueHints;
  }

  /** The client sets the run id, so a retried request does not start a second run. */
  public CompletableFuture<StartWorkflowResponse> start(StartWorkflowRequest.Builder request) {
    queueHints.warnIfNotServed(request.getWorkflowType(), request.getTaskQueue());
    if (!request.getOnFailureWorkflow().isEmpty()) {
      String queue = request.getOnFailureTaskQueue();
      queueHints.warnIfNotServed(
          request.getOnFailureWorkflow(), queue.isEmpty() ? request.getTaskQueue() : queue);
    }
    StartWorkflowRequest start =
        request.setRunId(RunIds.ofStart(connection.namespace(), request)).build();
    CompletableFuture<StartWorkflowResponse> answer = startBatcher.start(start);
    return start.getParentRunId().isEmpty()
        ? answer
        : answer.exceptionallyCompose(error -> startWithoutParent(start, error));
  }

  /** Sends a start that has its run id. */
  public CompletableFuture<StartWorkflowResponse> startWithId(StartWorkflowRequest start) {
    return startBatcher.start(start);
  }

  /**
   * Repeats a start without its parent if the server does not know the parent: a step may start
   * runs in another installation of Kagzi than its own.
   */
  private CompletableFuture<StartWorkflowResponse> startWithoutParent(
      StartWorkflowRequest start, Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
    return cause instanceof RequestRefusedException refused
            && refused.code().equals("PARENT_NOT_FOUND")
        ? startBatcher.start(start.toBuilder().clearParentRunId().clearParentStepId().build())
        : CompletableFuture.failedFuture(error);
  }

  public static <T> T await(CompletableFuture<T> answer) {
    try {
      return awaitInContext(answer, Connection.NO_TIMEOUT);
    } catch (InterruptedException e) {
      throw interrupted();
    } catch (ExecutionException | TimeoutException e) {
      throw unwrap(e);
    }
  }

  /** Waits at most until the caller's gRPC context ends, like a blocking call of gRPC. */
  private static <T> T awaitInContext(CompletableFuture<T> answer, Duration timeout)
      throws InterruptedException, ExecutionException, TimeoutException {
    Context context = Context.current();
    if (context.equals(Context.ROOT)) {
      return get(answer, timeout);
    }
    CompletableFuture<T> limited = answer.copy();
    Context.CancellationListener onEnd =
        ended ->
            limited.completeExceptionally(new WaitInterruptedException(ended.cancellationCause()));
    context.addListener(onEnd, Runnable::run);
    try {
      return get(limited, timeout);
    } finally {
      context.removeListener(onEnd);
    }
  }

  // A timed wait of a virtual thread needs a timer, even if its time never comes: with 512 callers,
  // W0 was 6 % slower.
  private static <T> T get(CompletableFuture<T> answer, Duration timeout)
      throws InterruptedException, ExecutionException, TimeoutException {
    return timeout.equals(Connection.NO_TIMEOUT)
        ? answer.get()
        : answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** The future completes on a gRPC thread, so its callbacks must not block. */
  public CompletableFuture<WorkflowEnd> end(String runId) {
    return runWatcher.watch(runId);
  }

  public WorkflowEnd awaitEnd(String runId, Duration timeout) {
    CompletableFuture<WorkflowEnd> end = runWatcher.watch(runId);
    try {
      return awaitInContext(end, timeout);
    } catch (TimeoutException e) {
      runWatcher.unwatch(runId, end);
      throw new ResultTimeoutException(runId, timeout);
    } catch (InterruptedException e) {
      runWatcher.unwatch(runId, end);
      throw interrupted();
    } catch (ExecutionException e) {
      runWatcher.unwatch(runId, end);
      throw unwrap(e);
    }
  }

  private static KagziException interrupted() {
    Thread.currentThread().interrupt();
    return new WaitInterruptedException();
  }

  private static RuntimeException unwrap(Exception e) {
    return e.getCause() instanceof RuntimeException known
        ? known
        : new IllegalStateException(e.getCause());
  }

  /** Returns the output of a run that has ended, or throws why it has none. */
  public @Nullable Object output(WorkflowEnd end, Type type) {
    if (end.getNotFound()) {
      throw new RunNotFoundException(end.getRunId(), connection.namespace(), null);
    }
    RunStatus status = ProtoMapper.status(end.getStatus());
    String ended = end.getLastRunId().isEmpty() ? end.getRunId() : end.getLastRunId();
    return switch (status) {
      case COMPLETED -> payloads.decode(end.getOutput(), type);
      case CANCELLED -> throw new RunCancelledException(ended);
      default -> throw new RunFailedException(ended, status, ProtoMapper.failure(end.getError()));
    };
  }

  public Workflow get(String runId) {
    GetWorkflowRequest request =
        GetWorkflowRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setRunId(runId)
            .build();
    return call(WorkflowServiceGrpc.getGetWorkflowMethod(), request, runId).getWorkflow();
  }

  /**
   * Asks for a run whose start is written in a transaction of the application. A server that does
   * not find it polls often for some seconds, so that it sees the commit soon. Sends at most one
   * request in {@link #EXPECT_NANOS}; does not wait for the answer, and ignores it.
   */
  public void expect(String runId) {
    long now = System.nanoTime();
    long last = expectedNanos.get();
    if (now - last > EXPECT_NANOS && expectedNanos.compareAndSet(last, now)) {
      connection
          .workflows(EXPECT_ANSWER_MS)
          .getWorkflow(
              GetWorkflowRequest.newBuilder()
                  .setNamespace(connection.namespace())
                  .setRunId(runId)
                  .build(),
              new IgnoredAnswer<>());
    }
  }

  private static final class IgnoredAnswer<T> implements StreamObserver<T> {
    @Override
    public void onNext(T answer) {}

    @Override
    public void onError(Throwable notFound) {}

    @Override
    public void onCompleted() {}
  }

  public ExplainWorkflowResponse explain(String runId) {
    ExplainWorkflowRequest request =
        ExplainWorkflowRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setRunId(runId)
            .build();
    return call(WorkflowServiceGrpc.getExplainWorkflowMethod(), request, runId);
  }

  /** The run is read first: if it has ended, all of its steps are recorded by then. */
  public HistoryFile history(String runId) {
    Workflow run = get(runId);
    List<Step> steps = new ArrayList<>();
    String token = "";
    do {
      ListStepsRequest request =
          ListStepsRequest.newBuilder()
              .setNamespace(connection.namespace())
              .setRunId(runId)
              .setPage(
                  PageRequest.newBuilder()
                      .setPageSize(STEPS_PAGE_SIZE)
                      .setPageToken(token)
                      .setIncludePayloads(true))
              .build();
      ListStepsResponse page = call(AdminServiceGrpc.getListStepsMethod(), request, runId);
      steps.addAll(page.getStepsList());
      token = page.getPage().getNextPageToken();
    } while (!token.isEmpty());
    return new HistoryFile(run, steps);
  }

  public Workflow getByWorkflowId(String workflowId) {
    GetWorkflowByExternalIdRequest request =
        GetWorkflowByExternalIdRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setExternalId(workflowId)
            .build();
    return call(WorkflowServiceGrpc.getGetWorkflowByExternalIdMethod(), request, workflowId)
        .getWorkflow();
  }

  /** Sends a signal; an empty id is replaced, so that a retried request is the same signal. */
  public void signal(String runId, String name, Payload value, String signalId) {
    SignalWorkflowRequest request =
        SignalWorkflowRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setRunId(runId)
            .setName(name)
            .setPayload(value)
            .setSignalId(signalId)
            .build();
    SignalWorkflowResponse unused =
        call(WorkflowServiceGrpc.getSignalWorkflowMethod(), request, runId);
  }

  /** Sends the signal to the open run. If there is none, starts the run with the signal. */
  public StartWorkflowResponse signalOrStart(
      StartWorkflowRequest.Builder start, SignalOrStartWorkflowRequest.Builder signal) {
    queueHints.warnIfNotServed(start.getWorkflowType(), start.getTaskQueue());
    start.setNamespace(connection.namespace());
    // Retries have the same ids, so they neither start a second run nor send a second signal.
    SignalOrStartWorkflowRequest request = RequestIds.withId(signal.setStart(start).build());
    SignalOrStartWorkflowResponse sent;
    try {
      sent = connection.call(WorkflowServiceGrpc.getSignalOrStartWorkflowMethod(), request);
    } catch (RequestRefusedException e) {
      if (e.code().equals("ID_IN_USE")) {
        throw new RunExistsException(
            start.getExternalId(),
            getByWorkflowId(start.getExternalId()).getRunId(),
            String.valueOf(e.getMessage()));
      }
      if (!e.code().equals("PARENT_NOT_FOUND")) {
        throw e;
      }
      SignalOrStartWorkflowRequest.Builder without = request.toBuilder();
      without.getStartBuilder().clearParentRunId().clearParentStepId();
      sent = connection.call(WorkflowServiceGrpc.getSignalOrStartWorkflowMethod(), without.build());
    }
    return StartWorkflowResponse.newBuilder()
        .setRunId(sent.getRunId())
        .setAlreadyExists(!sent.getStarted())
        .build();
  }

  public List<Signal> signals(String runId) {
    List<Signal> signals = new ArrayList<>();
    String token = "";
    do {
      ListSignalsRequest request =
          ListSignalsRequest.newBuilder()
              .setNamespace(connection.namespace())
              .setRunId(runId)
              .setPage(PageRequest.newBuilder().setPageSize(STEPS_PAGE_SIZE).setPageToken(token))
              .build();
      ListSignalsResponse page = call(WorkflowServiceGrpc.getListSignalsMethod(), request, runId);
      signals.addAll(page.getSignalsList());
      token = page.getPage().getNextPageToken();
    } while (!token.isEmpty());
    return signals;
  }

  /**
   * Returns the values that the run has published. If the name is not empty, returns only the value
   * of this name.
   */
  public GetPublishedResponse published(String runId, String name) {
    return call(
        WorkflowServiceGrpc.getGetPublishedMethod(), publishedRequest(runId, name).build(), runId);
  }

  /**
   * Waits some seconds for a value after the given version, or for the end of the run. While no
   * server answers, it retries without a time limit.
   */
  public GetPublishedResponse awaitPublished(String runId, String name, long afterVersion) {
    GetPublishedRequest request =
        publishedRequest(runId, name)
            .setAfterVersion(afterVersion)
            .setWaitMs(PUBLISHED_WAIT_MS)
            .build();
    try {
      return connection.callUntilAnswered(WorkflowServiceGrpc.getGetPublishedMethod(), request);
    } catch (RequestRefusedException e) {
      throw notFoundOr(e, runId);
    }
  }

  private GetPublishedRequest.Builder publishedRequest(String runId, String name) {
    return GetPublishedRequest.newBuilder()
        .setNamespace(connection.namespace())
        .setRunId(runId)
        .setName(name);
  }

  /** Answers a callback that the run has made. Only the first answer is kept. */
  public AnswerCallbackResponse answerCallback(
      String runId, String callback, AnswerCallbackRequest.Builder answer) {
    AnswerCallbackRequest request =
        answer.setNamespace(connection.namespace()).setRunId(runId).setStepKey(callback).build();
    return call(WorkflowServiceGrpc.getAnswerCallbackMethod(), request, runId);
  }

  public boolean cancel(String runId) {
    CancelWorkflowRequest request =
        CancelWorkflowRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setRunId(runId)
            .build();
    return call(WorkflowServiceGrpc.getCancelWorkflowMethod(), request, runId).getCancelled();
  }

  public boolean terminate(String runId, String reason) {
    TerminateWorkflowRequest request =
        TerminateWorkflowRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setRunId(runId)
            .setReason(reason)
            .build();
    return call(WorkflowServiceGrpc.getTerminateWorkflowMethod(), request, runId).getTerminated();
  }

  public RetryWorkflowResponse retry(String runId, @Nullable String version) {
    RetryWorkflowRequest.Builder request =
        RetryWorkflowRequest.newBuilder().setNamespace(connection.namespace()).setRunId(runId);
    if (version != null) {
      request.setVersion(version);
    }
    return call(WorkflowServiceGrpc.getRetryWorkflowMethod(), request.build(), runId);
  }

  /** The request names the failed attempt, so a retried request does not resume twice. */
  public boolean resume(String runId, boolean force) {
    ResumeWorkflowRequest request =
        ResumeWorkflowRequest.newBuilder()
            .setNamespace(connection.namespace())
            .setRunId(runId)
            .setAttempt(get(runId).getAttempts())
            .setForce(force)
            .build();
    return call(WorkflowServiceGrpc.getResumeWorkflowMethod(), request, runId).getResumed();
  }

  private <Q, A> A call(MethodDescriptor<Q, A> method, Q request, String id) {
    try {
      return connection.call(method, request);
    } catch (RequestRefusedException e) {
      throw notFoundOr(e, id);
    }
  }

  private KagziException notFoundOr(RequestRefusedException e, String id) {
    return e.code().equals("NOT_FOUND")
        ? new RunNotFoundException(id, connection.namespace(), e)
        : e;
  }

  public ListWorkflowsResponse list(ListWorkflowsRequest.Builder request) {
    return connection.call(
        WorkflowServiceGrpc.getListWorkflowsMethod(),
        request.setNamespace(connection.namespace()).build());
  }

  public void close() {
    startBatcher.close();
    runWatcher.close();
  }
}
