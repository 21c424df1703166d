package dev.kagzi.sdk;

import dev.kagzi.protocol.v1.RetryWorkflowResponse;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.sdk.internal.client.RunCalls;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One run, as its starter sees it. Thread-safe.
 *
 * @param <O> the workflow's output
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

  public String runId() {
    return runId;
  }

  /** Whether the start, or the retry, found a run in its place and returned that one. */
  public boolean existed() {
    return existed;
  }

  /**
   * Waits for the end of the run, for as long as it takes, and over any absence of the server.
   *
   * @return the output, which is null if the workflow returned null
   * @throws RunFailedException if the run failed or its deadline passed
   * @throws RunCancelledException if it was cancelled
   * @throws RunNotFoundException if there is no such run
   */
  public O result() {
    return cast(runs.output(runs.awaitEnd(runId, null), type.outputType()));
  }

  /**
   * Waits for the end of the run, but not longer than the given time.
   *
   * @throws ResultTimeoutException if the run had not ended by then
   */
  public O result(Duration timeout) {
    return cast(runs.output(runs.awaitEnd(runId, timeout), type.outputType()));
  }

  /** The output, or the exception of {@link #result()}; completed on a thread of its own. */
  public CompletableFuture<O> resultAsync() {
    return runs.end(runId)
        .thenApplyAsync(end -> cast(runs.output(end, type.outputType())), Kagzi.CALLBACKS);
  }

  public RunStatus status() {
    return ProtoMapper.status(runs.get(runId).getStatus());
  }

  /** All that is known of the run. */
  public RunInfo info() {
    return info(runs, runs.get(runId));
  }

  static RunInfo info(RunCalls runs, Workflow run) {
    return ProtoMapper.runInfo(run, Encoded.outputOf(run, runs.payloads().codec()));
  }

  /** What is recorded of the run, with every attempt of its steps: to look at, or to replay. */
  public RunHistory history() {
    return new RunHistory(runs.history(runId));
  }

  /**
   * Cancels the run: it ends at once as CANCELLED, and code of it that is running is interrupted.
   * None of its {@code catch} blocks comes to execute a step: what has to be undone is undone by
   * somebody else. No failure handler is started.
   *
   * @return true if it is cancelled, by this call or an earlier one; false if it had ended
   *     otherwise
   */
  public boolean cancel() {
    return runs.cancel(runId);
  }

  /**
   * Ends the run at once as FAILED, for a reason that is shown as its error; code of it that is
   * running is interrupted: it undoes nothing. No failure handler is started.
   *
   * @return true if it is terminated for this reason, by this call or an earlier one; false if it
   *     had ended otherwise
   */
  public boolean terminate(String reason) {
    return runs.terminate(runId, Objects.requireNonNull(reason, "reason: null (expected: a text)"));
  }

  /**
   * Does it all again: starts a new run like this one, which has ended in whatever way, with the
   * same input, options and id.
   *
   * @return the new run; if this run, or another with its id, is active, that one, with {@link
   *     #existed()} true
   */
  public RunHandle<O> retry() {
    return retried(runs.retry(runId, null));
  }

  /**
   * Like {@link #retry()}, but the new run has the given version: for a run whose version no worker
   * serves, such as one that was started without a version before its type had a default.
   *
   * @param version empty for the type's default
   */
  public RunHandle<O> retryWithVersion(String version) {
    Objects.requireNonNull(version, "version: null (expected: a text)");
    return retried(runs.retry(runId, version));
  }

  private RunHandle<O> retried(RetryWorkflowResponse retried) {
    return new RunHandle<>(runs, type, retried.getNewRunId(), retried.getAlreadyRunning());
  }

  /**
   * Lets this very run, which has FAILED or TIMED_OUT, go on where it was: completed steps keep
   * their results, the failed one is executed again with fresh attempts, and the time that its
   * start allowed begins anew. A failure that the code had caught, so that it went on with further
   * steps, stays as it is: the code sees it again.
   *
   * @return false if there was nothing to resume: the run is active, was cancelled or has completed
   * @throws RequestRefusedException with code PRECONDITION_FAILED if nothing is left to do, because
   *     the run caught a failure, went on, and ended with that failure; if it was terminated; if
   *     another run with its id is active
   */
  public boolean resume() {
    return runs.resume(runId, false);
  }

  /**
   * The same for a run that {@link #resume()} refuses. One that was terminated goes on where it
   * was. In one that failed by itself all failed steps are executed again, also those whose
   * failures its code had caught and undone: what it undid stays undone.
   */
  public boolean forceResume() {
    return runs.resume(runId, true);
  }

  @Override
  public String toString() {
    return type + " " + runId;
  }

  // The codec made the value for exactly this type; null stands for itself.
  @SuppressWarnings({"unchecked", "NullAway", "TypeParameterUnusedInFormals"})
  private static <T> T cast(@Nullable Object value) {
    return (T) value;
  }
}
