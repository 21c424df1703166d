package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.IdConflictPolicy;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.SignalOrStartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.sdk.internal.client.RunCalls;
import dev.kagzi.sdk.internal.jdbc.OutboxRow;
import dev.kagzi.sdk.internal.jdbc.OutboxRows;
import dev.kagzi.sdk.internal.jdbc.StartFunction;
import dev.kagzi.sdk.internal.jdbc.StartWriter;
import dev.kagzi.sdk.internal.run.NameRules;
import dev.kagzi.sdk.internal.run.RunStepContext;
import dev.kagzi.sdk.internal.trace.StartTrace;
import dev.kagzi.sdk.internal.trace.Tracing;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import dev.kagzi.sdk.internal.wire.RunIds;
import dev.kagzi.sdk.jdbc.OutboxTable;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Starts runs of one type: {@link Kagzi#workflow}. The options apply to every start made with this
 * object, so use a new object for each {@link #id}. Set all options before several threads use it.
 *
 * <p>Concurrent starts of many threads are batched, and so are calls of {@link #startAsync} in a
 * loop.
 *
 * <p>A start made by a step's code, in the step's own thread, is an ordinary start; the step's run
 * is recorded as the parent. {@link WorkflowContext#child} starts a child that the parent can wait
 * for.
 *
 * @param <I> input type
 * @param <O> output type
 */
public final class WorkflowStarter<I, O> {
  private final RunCalls runs;
  private final List<ClientInterceptor> interceptors;
  private final WorkflowType<I, O> type;
  private final Tracing tracing;
  private StartWorkflowRequest options;
  private String id = "";

  WorkflowStarter(
      RunCalls runs,
      WorkflowType<I, O> type,
      List<ClientInterceptor> interceptors,
      Tracing tracing) {
    this.runs = runs;
    this.tracing = tracing;
    this.interceptors = interceptors;
    this.type = type;
    this.options =
        StartWorkflowRequest.newBuilder()
            .setWorkflowType(type.name())
            .setVersion(type.version())
            .setTaskQueue(queue(runs, type))
            .build();
  }

  private static String queue(RunCalls runs, WorkflowType<?, ?> type) {
    return type.queue().equals(Kagzi.DEFAULT_QUEUE)
        ? runs.queueHints().onlyQueueOf(type.name()).orElse(Kagzi.DEFAULT_QUEUE)
        : type.queue();
  }

  /**
   * Sets an id that makes the start idempotent: while a run with this id is active, a start returns
   * that run instead of starting another. {@link #ifExists} changes that. The server rejects ids
   * that begin with {@code schedule:}, {@code failure-} or {@code system-failure-}, which are
   * reserved.
   */
  public WorkflowStarter<I, O> id(String id) {
    this.id = NameRules.check("id", id);
    return this;
  }

  /** Sets what a start with a used {@link #id} does; {@link IdConflict#USE_EXISTING} by default. */
  public WorkflowStarter<I, O> ifExists(IdConflict policy) {
    IdConflictPolicy wire =
        switch (policy) {
          case USE_EXISTING -> IdConflictPolicy.ID_CONFLICT_POLICY_USE_EXISTING;
          case REJECT -> IdConflictPolicy.ID_CONFLICT_POLICY_REJECT;
          case USE_EXISTING_ANY -> IdConflictPolicy.ID_CONFLICT_POLICY_USE_EXISTING_ANY;
        };
    return with(options -> options.setIdConflictPolicy(wire));
  }

  /**
   * Sets the task queue of the run; only workers of this queue execute it. Default: the queue of
   * the workflow type. If that is {@value Kagzi#DEFAULT_QUEUE}: the queue on which workers of this
   * client serve the type, if there is exactly one; otherwise {@value Kagzi#DEFAULT_QUEUE}.
   */
  public WorkflowStarter<I, O> queue(String queue) {
    return with(options -> options.setTaskQueue(NameRules.check("queue", queue)));
  }

  /**
   * Sets the retry policy of the run as a whole, and of steps that have none.
   *
   * <p>When the run fails after the retries of its steps, it is executed again after the policy's
   * delay, up to the policy's number of attempts. Completed steps keep their results; failed steps
   * are executed again. The run is not retried if the code caught the final failure of a step and
   * then executed further steps: that is taken as compensation, and the run ends as FAILED.
   *
   * <p>By default, steps use the server's policy (3 attempts, after 1 s and 2 s), and a failed run
   * is not retried.
   */
  public WorkflowStarter<I, O> retry(Retry retry) {
    return with(options -> options.setRetryPolicy(ProtoMapper.retryPolicy(retry)));
  }

  /**
   * Same as {@code retry(Retry.exponential(attempts))}. The number applies to steps and to the run.
   * With 3, a step without its own policy is executed up to three times in each of up to three
   * attempts of the run, nine times in total.
   *
   * @param attempts maximum number of attempts, including the first
   */
  public WorkflowStarter<I, O> retries(int attempts) {
    return retry(Retry.exponential(attempts));
  }

  /**
   * Sets how long the run may take from its creation, including the wait for a worker and all other
   * waits. After that it ends as TIMED_OUT and its code is interrupted. No limit by default.
   */
  public WorkflowStarter<I, O> executionTimeout(Duration timeout) {
    return with(
        options ->
            options.setExecutionTimeoutMs(ProtoMapper.timeoutMs("executionTimeout", timeout)));
  }

  /**
   * Like {@link #executionTimeout}, with a point in time by the database's clock. If both are set,
   * the earlier one applies.
   */
  public WorkflowStarter<I, O> deadline(Instant deadline) {
    return with(options -> options.setDeadline(ProtoMapper.timestamp(deadline)));
  }

  /**
   * Sets the timeout of one attempt, for steps that set no {@linkplain StepBuilder#timeout timeout}
   * themselves. Default: the server's default of ten minutes.
   */
  public WorkflowStarter<I, O> stepTimeout(Duration timeout) {
    return with(options -> options.setStepTimeoutMs(ProtoMapper.timeoutMs("stepTimeout", timeout)));
  }

  /**
   * Sets the lease of the run: how long a worker keeps the run without a successful heartbeat. It
   * matters mainly while no server runs: a running server usually takes the runs away earlier,
   * after 10 seconds without heartbeats or 3 seconds after the connection broke. Default: the
   * server's default of one minute. The server rejects values below three heartbeat intervals.
   */
  public WorkflowStarter<I, O> heartbeatTimeout(Duration timeout) {
    return with(
        options ->
            options.setHeartbeatTimeoutMs(ProtoMapper.timeoutMs("heartbeatTimeout", timeout)));
  }

  /**
   * Sets the workflow that is started each time the run ends as FAILED or TIMED_OUT, but not when
   * it is cancelled or terminated. It is started on the queue of the handler's type or, if that is
   * {@value Kagzi#DEFAULT_QUEUE}, on the queue of this run. A worker must serve it there.
   *
   * @throws IllegalArgumentException if the handler's type has a version
   */
  public WorkflowStarter<I, O> onFailure(WorkflowType<WorkflowFailedEvent, ?> handler) {
    return onFailureAt(handler, handlerQueue(handler));
  }

  /** Like {@link #onFailure(WorkflowType)}, on the given queue. */
  public WorkflowStarter<I, O> onFailure(
      WorkflowType<WorkflowFailedEvent, ?> handler, String queue) {
    return onFailureAt(handler, NameRules.check("queue", queue));
  }

  private WorkflowStarter<I, O> onFailureAt(
      WorkflowType<WorkflowFailedEvent, ?> handler, String queue) {
    String name = handlerName(handler);
    return with(options -> options.setOnFailureWorkflow(name).setOnFailureTaskQueue(queue));
  }

  // The protocol has no field for the version of a handler.
  static String handlerName(WorkflowType<WorkflowFailedEvent, ?> handler) {
    if (!handler.version().isEmpty()) {
      throw new IllegalArgumentException(
          "handler: " + handler + " (expected: a type without a version)");
    }
    return handler.name();
  }

  // Empty means the queue of the failed run.
  static String handlerQueue(WorkflowType<WorkflowFailedEvent, ?> handler) {
    return handler.queue().equals(Kagzi.DEFAULT_QUEUE) ? "" : handler.queue();
  }

  /**
   * Adds a header: a text that is stored with the run and sent to its workers, such as a tenant or
   * a trace context. The workflow reads it with {@link WorkflowContext#headers}. Children, failure
   * handlers and retries of the run have it, too; a start that returns an existing run does not
   * change the headers of that run.
   *
   * @param name 1 to 100 letters, digits and {@code . _ -}; replaces a header with the same name
   * @param value any text; names and values of all headers have at most 16 KiB
   */
  public WorkflowStarter<I, O> header(String name, String value) {
    return with(options -> options.putHeaders(name, value));
  }

  /** Adds several headers: {@link #header}. */
  public WorkflowStarter<I, O> headers(Map<String, String> headers) {
    return with(options -> options.putAllHeaders(headers));
  }

  private WorkflowStarter<I, O> with(UnaryOperator<StartWorkflowRequest.Builder> option) {
    options = option.apply(options.toBuilder()).build();
    return this;
  }

  /**
   * Starts a run and returns when it is stored durably. The start is retried until a server
   * answers, at most for the client's {@link Kagzi.Builder#callTimeout}. Retries never start a
   * second run.
   *
   * @throws RequestRefusedException if the server rejects the start
   * @throws RunExistsException if the id is used and {@link IdConflict#REJECT} is set, or if the
   *     run with this id is of another type
   * @throws ServerUnavailableException if no server answered in time
   * @throws PayloadException if the input cannot be encoded; also if it cannot be decoded again,
   *     which is checked for the first input of each type
   * @throws WaitInterruptedException if the thread is interrupted; the run may still start
   * @throws IllegalStateException if {@link #ifExists} is set without an {@link #id}
   */
  public RunHandle<O> start(I input) {
    return handle(RunCalls.await(begin(input, id)));
  }

  /**
   * Like {@link #start}, without waiting. This call throws {@link PayloadException} and {@link
   * IllegalStateException}; the future fails with the other exceptions of {@code start}. Its
   * callbacks run on virtual threads and may block.
   */
  public CompletableFuture<RunHandle<O>> startAsync(I input) {
    return Kagzi.withCallbacks(begin(input, id)).thenApply(this::handle);
  }

  /**
   * Requests a start in the transaction of this connection: the run is started if and only if the
   * transaction commits. The connection must be one to the database of the server. This method
   * executes one statement, which needs the right to call {@code kagzi.start_workflow}, and waits
   * for no server.
   *
   * <p>A server starts the run soon after the commit. Until then, calls of the returned handle,
   * except {@link RunHandle#explain}, throw {@link RunNotFoundException}. If the server refuses the
   * start, or if an open run has the {@link #id}, no run is started: {@code explain} returns the
   * reason. {@link RunHandle#existed} is always false.
   *
   * <p>If a step calls this method, the step is not the parent of the run.
   *
   * @throws SQLException if the statement fails
   * @throws IllegalStateException if the connection is in auto-commit mode
   * @throws PayloadException as for {@link #start}
   */
  public RunHandle<O> startIn(Connection connection, I input) throws SQLException {
    RunHandle<O> run =
        inTransaction(input, start -> StartFunction.call(connection, runs.namespace(), start));
    runs.expect(run.runId());
    return run;
  }

  private RunHandle<O> inTransaction(I input, StartWriter writer) throws SQLException {
    CompletableFuture<StartWorkflowResponse> written =
        begin(
            request(input, id).clearParentRunId().clearParentStepId(),
            request -> traced(request, () -> insert(request, writer)));
    try {
      return new RunHandle<>(runs, type, written.join().getRunId(), false, id);
    } catch (CompletionException e) {
      if (e.getCause() instanceof SQLException failed) {
        throw failed;
      }
      throw e.getCause() instanceof RuntimeException failed ? failed : e;
    }
  }

  /**
   * Writes a start into the table {@code kagzi_outbox} of the application's own database, in the
   * transaction of this connection: the run is started if and only if the transaction commits. A
   * relay sends it ({@link Kagzi#relayOutbox}); starts and signals with the same id are sent in the
   * order in which they were written. {@link OutboxTable} creates the table.
   *
   * <p>Until the start is sent, calls of the returned handle throw {@link RunNotFoundException}. If
   * an open run has the {@link #id}, the relay starts no other run. If the server refuses the
   * start, the row stays in the outbox: {@link OutboxTable#refused}.
   *
   * @throws SQLException if the statement fails
   * @throws IllegalStateException if the connection is in auto-commit mode
   * @throws PayloadException as for {@link #start}
   */
  public RunHandle<O> startInOutbox(Connection connection, I input) throws SQLException {
    return inTransaction(
        input,
        start ->
            OutboxRows.insert(
                connection,
                runs.namespace(),
                id.isEmpty() ? start.getRunId() : id,
                start.getRunId(),
                OutboxRow.Kind.START,
                start.toByteArray()));
  }

  private CompletableFuture<StartWorkflowResponse> insert(
      StartWorkflowRequest.Builder request, StartWriter writer) {
    String runId = RunIds.ofStart(runs.namespace(), request);
    try {
      writer.write(request.setRunId(runId).build());
      return CompletableFuture.completedFuture(
          StartWorkflowResponse.newBuilder().setRunId(runId).build());
    } catch (SQLException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Starts one run per input. The client sends many starts in one request. Not atomic: if one start
   * is rejected, the others have started.
   *
   * @return handles in the order of the inputs
   * @throws RequestRefusedException the first rejection, after every start was answered
   * @throws IllegalStateException if an {@link #id} is set and there are several inputs
   */
  public List<RunHandle<O>> startAll(List<? extends I> inputs) {
    if (!id.isEmpty() && inputs.size() > 1) {
      throw new IllegalStateException(
          "id: \"%s\" for %d starts (expected: one id each; use startAll(inputs, idOf))"
              .formatted(id, inputs.size()));
    }
    return startAll(inputs, input -> id);
  }

  /**
   * Like {@link #startAll(List)}, with a separate id for each run.
   *
   * @param idOf returns the id for an input; empty for none
   */
  public List<RunHandle<O>> startAll(List<? extends I> inputs, Function<? super I, String> idOf) {
    List<CompletableFuture<StartWorkflowResponse>> answers = new ArrayList<>(inputs.size());
    for (I input : inputs) {
      answers.add(begin(input, idOf.apply(input)));
    }
    CompletableFuture<Void> all =
        CompletableFuture.allOf(answers.toArray(new CompletableFuture<?>[0]));
    RunCalls.await(all.handle((done, error) -> true));
    return answers.stream().map(answer -> handle(RunCalls.await(answer))).toList();
  }

  /**
   * Sends a signal to the open run with this {@link #id}. If there is none, starts a run with this
   * id and sends the signal to it, in one transaction. Returns when that is stored durably.
   *
   * @param input used only if the run is started
   * @return the run; {@link RunHandle#existed} is false if this call started it
   * @throws RunExistsException if the run with this id is of another type
   * @throws RequestRefusedException as for {@link RunHandle#signal}, or if the server rejects the
   *     start
   * @throws IllegalStateException if no {@link #id} is set, or {@link #ifExists} is
   */
  public <T> RunHandle<O> signalOrStart(Signal<T> signal, T value, I input) {
    return sendOrStart(signal, value, "", input);
  }

  /**
   * Like {@link #signalOrStart(Signal, Object, Object)}, with an id of the sender. If a run with
   * this {@link #id} has accepted a signal with the sender's id, that run is returned, also after
   * its end: no other run is started.
   *
   * @param signalId unique among the signals that are sent to runs with this id
   */
  public <T> RunHandle<O> signalOrStart(Signal<T> signal, T value, String signalId, I input) {
    return sendOrStart(signal, value, NameRules.check("signalId", signalId), input);
  }

  private <T> RunHandle<O> sendOrStart(Signal<T> signal, T value, String signalId, I input) {
    if (id.isEmpty() || options.getIdConflictPolicyValue() != 0) {
      throw new IllegalStateException(
          "id: \"%s\", ifExists: %s (expected: an id, and no ifExists)"
              .formatted(id, options.getIdConflictPolicy()));
    }
    SignalOrStartWorkflowRequest.Builder call =
        SignalOrStartWorkflowRequest.newBuilder()
            .setName(signal.name())
            .setPayload(encode(runs, signal, value))
            .setSignalId(signalId);
    return handle(
        RunCalls.await(
            begin(
                request(input, id),
                request -> traced(request, () -> signalOrStart(request, call)))));
  }

  private CompletableFuture<StartWorkflowResponse> signalOrStart(
      StartWorkflowRequest.Builder request, SignalOrStartWorkflowRequest.Builder call) {
    try {
      return CompletableFuture.completedFuture(runs.signalOrStart(request, call));
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  static <T> Payload encode(RunCalls runs, Signal<T> signal, T value) {
    Objects.requireNonNull(value, "value: null (expected: a value of the signal)");
    return runs.payloads().encode(value, signal.type());
  }

  private CompletableFuture<StartWorkflowResponse> begin(I input, String id) {
    return begin(request(input, id), this::send);
  }

  private CompletableFuture<StartWorkflowResponse> begin(
      StartWorkflowRequest.Builder request,
      Function<StartWorkflowRequest.Builder, CompletableFuture<StartWorkflowResponse>> send) {
    if (interceptors.isEmpty()) {
      return send.apply(request);
    }
    ClientInterceptor.Start start =
        new ClientInterceptor.Start(
            request.getWorkflowType(),
            request.getVersion(),
            request.getTaskQueue(),
            request.getExternalId(),
            new LinkedHashMap<>(request.getHeadersMap()));
    AtomicReference<@Nullable StartWorkflowResponse> answer = new AtomicReference<>();
    Supplier<CompletableFuture<String>> next =
        () ->
            send.apply(request.clearHeaders().putAllHeaders(start.headers()))
                .thenApply(
                    started -> {
                      answer.set(started);
                      return started.getRunId();
                    });
    for (ClientInterceptor each : interceptors.reversed()) {
      Supplier<CompletableFuture<String>> inner = next;
      next = () -> each.start(start, inner);
    }
    return next.get().thenApply(runId -> started(answer.get(), runId));
  }

  private CompletableFuture<StartWorkflowResponse> send(StartWorkflowRequest.Builder request) {
    return traced(request, () -> runs.start(request));
  }

  private CompletableFuture<StartWorkflowResponse> traced(
      StartWorkflowRequest.Builder request,
      Supplier<CompletableFuture<StartWorkflowResponse>> call) {
    StartTrace trace = tracing.start(request);
    try {
      return call.get().whenComplete(trace::end);
    } catch (RuntimeException e) {
      trace.end(null, e);
      throw e;
    }
  }

  private static StartWorkflowResponse started(
      @Nullable StartWorkflowResponse answer, String runId) {
    if (answer == null || !answer.getRunId().equals(runId)) {
      throw new IllegalStateException(
          "run id: %s (expected: the id that next returned; did the interceptor call next?)"
              .formatted(runId));
    }
    return answer;
  }

  private StartWorkflowRequest.Builder request(I input, String id) {
    if (id.isEmpty() && options.getIdConflictPolicyValue() != 0) {
      throw new IllegalStateException("ifExists: set without an id (expected: id(..))");
    }
    StartWorkflowRequest.Builder request =
        options.toBuilder()
            .setExternalId(id)
            .setInput(runs.payloads().encodeInput(input, type.inputType()));
    RunStepContext step = RunStepContext.current();
    if (step != null && step.run().namespace().equals(runs.namespace())) {
      request.setParentRunId(step.run().runId()).setParentStepId(step.step());
    }
    return request;
  }

  private RunHandle<O> handle(StartWorkflowResponse started) {
    return new RunHandle<>(runs, type, started.getRunId(), started.getAlreadyExists());
  }
}
