package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.AnswerCallbackRequest;
import dev.kagzi.protocol.v1.CallbackFailure;
import dev.kagzi.protocol.v1.RetryWorkflowResponse;
import dev.kagzi.protocol.v1.SignalWorkflowRequest;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.sdk.internal.client.RunCalls;
import dev.kagzi.sdk.internal.jdbc.OutboxRow;
import dev.kagzi.sdk.internal.jdbc.OutboxRows;
import dev.kagzi.sdk.internal.jdbc.SignalFunction;
import dev.kagzi.sdk.internal.run.NameRules;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import dev.kagzi.sdk.jdbc.OutboxTable;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A handle for one run: wait for its result, inspect it, signal, cancel, retry or resume it. Calls
 * to the server throw {@link RunNotFoundException} if the run does not exist. Thread-safe.
 *
 * @param <O> the workflow's output type
 */
public final class RunHandle<O> {
  private final RunCalls runs;
  private final WorkflowType<?, O> type;
  private final String runId;
  private final boolean existed;

  /** The id of the start that this handle is from; empty if unknown. */
  private final String workflowId;

  RunHandle(RunCalls runs, WorkflowType<?, O> type, String runId, boolean existed) {
    this(runs, type, runId, existed, "");
  }

  RunHandle(
      RunCalls runs, WorkflowType<?, O> type, String runId, boolean existed, String workflowId) {
    this.runs = runs;
    this.type = type;
    this.runId = runId;
    this.existed = existed;
    this.workflowId = workflowId;
  }

  /** Returns the run's id. */
  public String runId() {
    return runId;
  }

  /**
   * Returns whether {@code start} or {@link #retry} returned an existing run instead of starting a
   * new one. Always true for handles from {@link Kagzi#run}.
   */
  public boolean existed() {
    return existed;
  }

  /**
   * Waits for the end of the run without a timeout, even while no server answers. If the run
   * {@linkplain WorkflowContext#continueAsNew(Object) continues as new}, waits for the end of the
   * last run of its chain and returns the output of that run.
   *
   * @return the output, which is null if the workflow returned null
   * @throws RunFailedException if the run failed or timed out
   * @throws RunCancelledException if the run was cancelled
   * @throws PayloadException if the output cannot be decoded
   * @throws WaitInterruptedException if the thread is interrupted
   * @throws ServerUnavailableException if the client is closed meanwhile
   */
  public O result() {
    return cast(runs.output(runs.awaitEnd(runId, Connection.NO_TIMEOUT), type.outputType()));
  }

  /**
   * Like {@link #result()}, with a timeout.
   *
   * @throws ResultTimeoutException if the run did not end in time; the run continues
   */
  public O result(Duration timeout) {
    return cast(runs.output(runs.awaitEnd(runId, timeout), type.outputType()));
  }

  /**
   * Returns a future with the output, or with the exception that {@link #result()} throws. Its
   * callbacks run on a virtual thread and may block.
   */
  public CompletableFuture<O> resultAsync() {
    return Kagzi.withCallbacks(runs.end(runId))
        .thenApply(end -> cast(runs.output(end, type.outputType())));
  }

  /** Returns the run's current status. */
  public RunStatus status() {
    return ProtoMapper.status(runs.get(runId).getStatus());
  }

  /** Returns the run's current state. */
  public RunInfo info() {
    return info(runs, runs.get(runId));
  }

  /**
   * Returns the run that this one has {@linkplain WorkflowContext#continueAsNew(Object) continued
   * as}; empty if it has not. The returned run may have continued, too.
   */
  public Optional<RunHandle<O>> successor() {
    String next = runs.get(runId).getContinuedTo();
    return next.isEmpty() ? Optional.empty() : Optional.of(new RunHandle<>(runs, type, next, true));
  }

  /**
   * Explains why the run does not continue, or what it is doing: no worker serves it, it sleeps, it
   * waits for a retry, and so on.
   *
   * <pre>{@code
   * run.explain().causes().forEach(cause -> log.info("{}: {}", cause.code(), cause.text()));
   * }</pre>
   */
  public RunExplanation explain() {
    return ProtoMapper.explanation(runs.explain(runId));
  }

  static RunInfo info(RunCalls runs, Workflow run) {
    return ProtoMapper.runInfo(run, Encoded.outputOf(run, runs.payloads().codec()));
  }

  /**
   * Returns the run's recorded history with every attempt of its steps, for inspection or for a
   * {@link Replayer}.
   */
  public RunHistory history() {
    return new RunHistory(runs.history(runId));
  }

  /**
   * Sends a signal to the run and returns when it is stored durably. It stays buffered until the
   * code of the run receives it: {@link WorkflowContext#receive(Signal)}. If the run has continued
   * as new, the signal goes to the last run of its chain.
   *
   * @throws RequestRefusedException with code {@code RUN_ENDED} if the run has ended, {@code
   *     TOO_MANY_SIGNALS} if its buffered signals have reached the server's limit, {@code
   *     SIGNALS_UNSUPPORTED} if it is executed by a worker that cannot receive signals
   * @throws ServerUnavailableException if no server answered in time; the signal may be stored
   */
  public <T> void signal(Signal<T> signal, T value) {
    send(signal, value, "");
  }

  /**
   * Like {@link #signal(Signal, Object)}, with an id of the sender, such as the id of a webhook's
   * event. Signals with the same id are stored once. Sending one again succeeds, even after the run
   * has ended.
   *
   * @param id unique among the signals of the run and its chain
   */
  public <T> void signal(Signal<T> signal, T value, String id) {
    send(signal, value, NameRules.check("id", id));
  }

  /**
   * Writes a signal into the table {@code kagzi_outbox} of the application's own database, in the
   * transaction of this connection: it is sent if and only if the transaction commits, by a relay
   * ({@link Kagzi#relayOutbox}), and stored once. It is sent after the start, if {@link
   * WorkflowStarter#startInOutbox} has written one for the run, and after earlier signals of this
   * handle. If the server refuses it, its row stays: {@link OutboxTable#refused}.
   *
   * @throws SQLException if the statement fails
   * @throws IllegalStateException if the connection is in auto-commit mode
   */
  public <T> void signalInOutbox(java.sql.Connection connection, Signal<T> signal, T value)
      throws SQLException {
    SignalWorkflowRequest request =
        SignalWorkflowRequest.newBuilder()
            .setNamespace(runs.namespace())
            .setRunId(runId)
            .setName(signal.name())
            .setPayload(WorkflowStarter.encode(runs, signal, value))
            .setSignalId(UUID.randomUUID().toString())
            .build();
    OutboxRows.insert(
        connection,
        runs.namespace(),
        workflowId.isEmpty() ? runId : workflowId,
        runId,
        OutboxRow.Kind.SIGNAL,
        request.toByteArray());
  }

  /**
   * Requests a signal in the transaction of this connection: it is sent if and only if the
   * transaction commits, and stored once. The connection must be one to the database of the server.
   * This method executes one statement, which needs the right to call {@code
   * kagzi.signal_workflow}, and sends nothing to the server.
   *
   * <p>A server sends it soon after the commit: after the start, if {@link WorkflowStarter#startIn}
   * has returned this handle, and after earlier signals that were requested for the run in this
   * way. If the server refuses it, its row stays in {@code kagzi.signal_requests} with the reason.
   *
   * @throws SQLException if the statement fails
   * @throws IllegalStateException if the connection is in auto-commit mode
   */
  public <T> void signalIn(java.sql.Connection connection, Signal<T> signal, T value)
      throws SQLException {
    SignalFunction.call(
        connection,
        runs.namespace(),
        runId,
        signal.name(),
        WorkflowStarter.encode(runs, signal, value));
  }

  private <T> void send(Signal<T> signal, T value, String id) {
    runs.signal(runId, signal.name(), WorkflowStarter.encode(runs, signal, value), id);
  }

  /**
   * Returns the signals that were sent to the run, received or not, in the order of their arrival.
   * {@link SignalInfo#isReceived} shows which ones the run's code received.
   */
  public List<SignalInfo> signals() {
    return runs.signals(runId).stream().map(ProtoMapper::signalInfo).toList();
  }

  /**
   * Returns the last value that the run has published under this name, see {@link
   * WorkflowContext#publish}. No worker is needed, and the run may have ended.
   *
   * @return empty if the run has not published the name, or has published null
   * @throws PayloadException if the value cannot be decoded
   */
  public <T> Optional<T> published(String name, Class<T> type) {
    return new PublishedValues(runs, runId).last(NameRules.check("name", name), type);
  }

  /** Like {@link #published(String, Class)}, for a generic type. */
  public <T> Optional<T> published(String name, TypeRef<T> type) {
    return new PublishedValues(runs, runId).last(NameRules.check("name", name), type.type());
  }

  /** Returns the last value of each name that the run has published, ordered by name. */
  public List<PublishedValue> published() {
    return new PublishedValues(runs, runId).all();
  }

  /**
   * Follows a value that the run publishes: returns a stream with the current value, if there is
   * one, and each later one. The stream waits for the next value, even while no server answers, and
   * ends at the end of the run. Values that follow each other quickly may be skipped, but never the
   * last one; null is skipped, too.
   *
   * <pre>{@code
   * run.watch("progress", Progress.class).forEach(progress -> bar.show(progress.percent()));
   * }</pre>
   *
   * <p>Reading the stream blocks its thread. It throws the exceptions of {@link #published(String,
   * Class)}, and a {@link ServerUnavailableException} if the thread is interrupted or the client is
   * closed.
   */
  public <T> Stream<T> watch(String name, Class<T> type) {
    return new PublishedValues(runs, runId).watch(NameRules.check("name", name), type);
  }

  /** Like {@link #watch(String, Class)}, for a generic type. */
  public <T> Stream<T> watch(String name, TypeRef<T> type) {
    return new PublishedValues(runs, runId).watch(NameRules.check("name", name), type.type());
  }

  /**
   * Completes a callback of the run without its URL, for example in the handler of a webhook that
   * checks a signature first. Returns when the answer is stored durably. The first answer of a
   * callback stays; a repeated call changes nothing and succeeds, even after the end of the run.
   *
   * @param callback the key of its step: its name, {@code pay#2} for the second one of a name, or
   *     {@code prepare[stock]/pay} in a branch
   * @return whether the callback is completed; false if its first answer failed it
   * @throws RequestRefusedException with code {@code CALLBACK_NOT_FOUND} if the run has made no
   *     such callback yet, {@code RUN_ENDED} if the run has ended without an answer
   */
  public boolean completeCallback(String callback, Object value) {
    Objects.requireNonNull(value, "value");
    return !isFailed(
        callback, AnswerCallbackRequest.newBuilder().setPayload(runs.payloads().encodeAny(value)));
  }

  /**
   * Like {@link #completeCallback}, but fails the callback: the code of the run gets a {@link
   * CallbackFailedException}.
   *
   * @return whether the callback is failed; false if its first answer completed it
   */
  public boolean failCallback(String callback, String message) {
    return isFailed(
        callback,
        AnswerCallbackRequest.newBuilder()
            .setFailure(CallbackFailure.newBuilder().setMessage(message)));
  }

  private boolean isFailed(String callback, AnswerCallbackRequest.Builder answer) {
    return runs.answerCallback(runId, callback, answer).getFailed();
  }

  /**
   * Cancels the run. Without {@link WorkflowType#onCancel}, it ends immediately as CANCELLED. Its
   * code is interrupted if a worker is executing it, and cannot execute further steps, so it cannot
   * compensate. With {@code onCancel}, its code cleans up first: the run stays open, with {@link
   * RunInfo#cancelRequestedAt}, until the code ends or its time is over. Its children are
   * cancelled, too, except {@linkplain ChildBuilder#startDetached detached} ones and runs that its
   * steps started with a client. No failure handler is started. If the run has continued as new,
   * the last run of its chain is cancelled.
   *
   * @return true if this or an earlier call cancelled the run, even if it cleans up first; false if
   *     it had already ended in another way
   */
  public boolean cancel() {
    return runs.cancel(runId);
  }

  /**
   * Ends the run immediately as FAILED with the error {@code terminated: <reason>}. Its code is
   * interrupted and cannot compensate. Its children are terminated, too, except {@linkplain
   * ChildBuilder#startDetached detached} ones and runs that its steps started with a client. No
   * failure handler is started. If the run has continued as new, the last run of its chain is
   * ended.
   *
   * @return true if this call, or an earlier call with the same reason, terminated the run; false
   *     if it had already ended in another way
   */
  public boolean terminate(String reason) {
    return runs.terminate(runId, Objects.requireNonNull(reason, "reason: null (expected: a text)"));
  }

  /**
   * Starts a new run with the same input, options and id, regardless of the status in which this
   * run ended. If this run or another run with its id is still active, starts nothing and returns
   * that run with {@link #existed()} true.
   *
   * @throws RequestRefusedException with code {@code RUN_CONTINUED} if the run has continued as
   *     new; the message names the last run of its chain
   */
  public RunHandle<O> retry() {
    return retried(runs.retry(runId, null));
  }

  /**
   * Like {@link #retry()}, with the given version. Use it for a run whose version no worker serves.
   *
   * @param version empty for the type's default version
   */
  public RunHandle<O> retryWithVersion(String version) {
    Objects.requireNonNull(version, "version: null (expected: a text)");
    return retried(runs.retry(runId, version));
  }

  private RunHandle<O> retried(RetryWorkflowResponse retried) {
    return new RunHandle<>(runs, type, retried.getNewRunId(), retried.getAlreadyRunning());
  }

  /**
   * Continues this run after it ended as FAILED or TIMED_OUT. Completed steps keep their results,
   * the failed step is executed again with its full number of attempts, and the execution timeout
   * starts again. If the code caught a step's failure and then executed further steps, that step is
   * not executed again: the code receives the failure again.
   *
   * @return false if there is nothing to resume: the run is active, was cancelled or completed
   * @throws RequestRefusedException with code {@code FAILED_PRECONDITION} if the run was
   *     terminated, if another run with its id is active, or if nothing is left to retry: the code
   *     caught the failure, executed further steps (compensation) and then rethrew it; with code
   *     {@code RUN_CONTINUED} if the run has continued as new
   */
  public boolean resume() {
    return runs.resume(runId, false);
  }

  /**
   * Like {@link #resume()}, but also resumes a terminated run, which continues where it was, and a
   * run that has compensated. In a run that was not terminated, all failed steps are executed
   * again, including those whose failures the code caught. Compensation that it already executed is
   * not reverted.
   *
   * @throws RequestRefusedException with code {@code FAILED_PRECONDITION} if another run with its
   *     id is active
   */
  public boolean forceResume() {
    return runs.resume(runId, true);
  }

  @Override
  public String toString() {
    return type + " " + runId;
  }

  // The codec returns a value of exactly this type; a null value stays null.
  @SuppressWarnings({"unchecked", "NullAway", "TypeParameterUnusedInFormals"})
  private static <T> T cast(@Nullable Object value) {
    return (T) value;
  }
}
