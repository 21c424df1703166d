package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.RetryWorkflowResponse;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.sdk.internal.client.RunCalls;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A handle for one run: wait for its result, inspect it, cancel, retry or resume it. All calls
 * throw {@link RunNotFoundException} if the run does not exist. Thread-safe.
 *
 * @param <O> the workflow's output type
 */
public final class RunHandle<O> {
  private final RunCalls runs;
  private final WorkflowType<?, O> type;
  private final String runId;
  private final boolean existed;

  RunHandle(RunCalls runs, WorkflowType<?, O> type, String runId, boolean existed) {
    this.runs = runs;
    this.type = type;
    this.runId = runId;
    this.existed = existed;
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
   * Waits for the end of the run without a timeout, even while no server answers.
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
    return runs.end(runId)
        .thenApplyAsync(end -> cast(runs.output(end, type.outputType())), Kagzi.CALLBACKS);
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
   * Cancels the run. It ends immediately as CANCELLED, and its code is interrupted if a worker is
   * executing it. Its {@code catch} blocks cannot execute further steps, so it cannot compensate.
   * Its children are cancelled, too, except {@linkplain ChildBuilder#startDetached detached} ones
   * and runs that its steps started with a client. No failure handler is started.
   *
   * @return true if this or an earlier call cancelled the run; false if it had already ended in
   *     another way
   */
  public boolean cancel() {
    return runs.cancel(runId);
  }

  /**
   * Ends the run immediately as FAILED with the error {@code terminated: <reason>}. Its code is
   * interrupted and cannot compensate. Its children are terminated, too, except {@linkplain
   * ChildBuilder#startDetached detached} ones and runs that its steps started with a client. No
   * failure handler is started.
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
   * starts again. A failure that the code caught before it executed further steps is not retried:
   * the code receives it again.
   *
   * @return false if there is nothing to resume: the run is active, was cancelled or completed
   * @throws RequestRefusedException with code {@code FAILED_PRECONDITION} if the run was
   *     terminated, if another run with its id is active, or if nothing is left to retry: the code
   *     caught the failure, executed further steps (compensation) and then rethrew it
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
