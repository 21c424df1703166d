package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.PayloadException;
import dev.kagzi.sdk.WorkFailedException;
import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.LogContext;
import dev.kagzi.sdk.internal.log.LoggedRun;
import dev.kagzi.sdk.internal.trace.ExecutionTrace;
import dev.kagzi.sdk.internal.trace.TraceScope;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Executes one claim, from its task to its last report. The slot is free when the code has left its
 * threads and the last report is answered. Thread-safe.
 */
public final class RunExecution {
  private static final EventLog log = EventLog.of(RunExecution.class);

  private final RunHost host;
  private final Task task;
  private final LoggedRun logged;
  private final Thread thread;
  private final RunExecutionState state;
  private final WorkflowThread main;

  private final StuckCode stuck;
  private final SilentCode silent;

  private final SlotHolders slotHolders = new SlotHolders(this::slotFree);
  private @Nullable History history;

  private volatile RunOutcome outcome = RunOutcome.UNFINISHED;
  private volatile boolean retried;
  private volatile boolean blocked;

  /** Why the run has failed or cannot continue, for the trace. */
  private volatile @Nullable ErrorDetail failure;

  public RunExecution(RunHost host, Task task) {
    this.host = host;
    this.task = task;
    this.thread = Thread.ofVirtual().name(task.getWorkflowType()).unstarted(this::execute);
    ExecutionTrace trace = host.trace(task);
    this.logged =
        new LoggedRun(
            task.getRunId(),
            task.getExternalId(),
            task.getWorkflowType(),
            host.settings().queue(),
            host.workerId(),
            trace.traceId());
    this.state = new RunExecutionState(host.lane(task, logged), task, trace, logged);
    this.main = state.open(thread, null);
    this.stuck = new StuckCode(logged);
    this.silent = new SilentCode(logged);
  }

  /** The ids for log lines about this execution. */
  public LoggedRun logged() {
    return logged;
  }

  public String runId() {
    return task.getRunId();
  }

  public int epoch() {
    return task.getEpoch();
  }

  public String workflowType() {
    return task.getWorkflowType();
  }

  public void start() {
    thread.start();
  }

  /** Called many times per second, by one thread. */
  public void tick(long nowNanos) {
    state.tick(nowNanos);
    WorkflowThread cutOff = state.cutOff(nowNanos);
    if (cutOff != null) {
      // Recording a failure calls application code, which must not block the timer thread. The
      // thread is not virtual: stuck code may pin all carriers of virtual threads.
      Thread.ofPlatform()
          .name("kagzi-cut-off")
          .daemon()
          .start(() -> reportCutOff(cutOff, nowNanos));
    }
    WorkflowThread stuckThread = state.stuck(nowNanos);
    if (stuckThread != null) {
      stuck.warn(stuckThread, nowNanos);
    }
    silent.tick(state, nowNanos);
  }

  /** Whether the code was interrupted and has not returned for a second. */
  public boolean isStuck(long nowNanos) {
    return state.stuck(nowNanos) != null;
  }

  // Reports the timeout and gives up this claim, because its code does not return. The next claim
  // executes the step's next attempt, or receives its final failure.
  private void reportCutOff(WorkflowThread workflowThread, long nowNanos) {
    LogContext.enterRun(logged);
    RunningStep step = workflowThread.running();
    if (step == null) {
      // The code has returned meanwhile, but its result no longer counts.
      releaseRun(0, null, null);
      return;
    }
    Throwable stack = new TimeoutException("the code that ignores its interrupt is here");
    stack.setStackTrace(workflowThread.thread().getStackTrace());
    ErrorDetail error = host.settings().failures().record(step.timeout(stack));
    step.ended(error, nowNanos);
    state.conclude(
        state.item().setStepFailed(step.failed(error, false, nowNanos)).build(),
        this::cutOffAnswered);
  }

  private void cutOffAnswered(ReportResult result) {
    switch (result.getResultCase()) {
      case RETRY_SCHEDULED -> retryScheduled(result.getRetryScheduled());
      case CLAIM_LOST -> reportsEnded();
      default -> releaseRun(0, null, null);
    }
  }

  private void retryScheduled(ReportResult.RetryScheduled retry) {
    if (retry.getClaimKept()) {
      releaseRun(retry.getDelayMs(), null, null);
    } else {
      reportsEnded();
    }
  }

  /** Asks the server for the results of awaited steps that have ended. */
  public void queryEndedSteps() {
    state.queryEndedSteps();
  }

  /** The run is cancelled, and its code cleans up. */
  public void cancelRequested() {
    state.requestCancel();
  }

  /** Stops a run whose claim is gone, for example after a cancel, and interrupts the code. */
  public void lose() {
    host.claimGone(this);
    state.stop(new StopReason.Lost());
  }

  /** Releases the run and interrupts the code; false if it has stopped or sent its last report. */
  public boolean release() {
    return state.release(this::releaseAnswered);
  }

  public void releaseUnstarted() {
    if (state.release(this::releaseAnswered)) {
      slotHolders.ended();
    } else if (!(state.stopReason() instanceof StopReason.Released)) {
      // The claim was lost, or the deadline passed, before the code started: nothing to report.
      reportsEnded();
      slotHolders.ended();
    }
  }

  private void execute() {
    main.enter();
    try {
      executeTraced();
    } finally {
      state.left(main);
      slotHolders.ended();
    }
  }

  private void executeTraced() {
    TraceScope scope = state.trace().begin();
    try {
      executeCode();
    } finally {
      scope.close();
    }
  }

  private void executeCode() {
    try {
      // While the run waited for its slot, its deadline may have passed or its claim may be lost.
      state.tick(System.nanoTime());
      main.check();
      RegisteredWorkflow<?, ?> code = requireCode();
      RunContext context = context();
      Object input = input(code, context.history().isEmpty(""));
      Object output = run(code, context, input);
      complete(code, output, context.leavesOpenSteps());
    } catch (SuspendedError e) {
      conclude(state.stopReason());
    } catch (Throwable e) {
      failOrConclude(e);
    }
  }

  private RunContext context() {
    Nondeterminism nondeterminism = host.settings().nondeterminism();
    if (nondeterminism != null) {
      nondeterminism.check(main, task);
    }
    History loaded =
        new History(
            HistoryReader.load(host, task, main),
            nondeterminism == null ? Map.of() : nondeterminism.askedBefore(task));
    history = loaded;
    return new RunContext(host, task, loaded, main, slotHolders);
  }

  private @Nullable Object run(
      RegisteredWorkflow<?, ?> code, RunContext context, @Nullable Object input) throws Exception {
    main.enterCode();
    try {
      return main.execute(
          context,
          () -> host.settings().interceptors().run(context, () -> code.run(context, input)));
    } finally {
      main.exitCode();
    }
  }

  private RegisteredWorkflow<?, ?> requireCode() {
    RegisteredWorkflow<?, ?> code = host.code(task);
    if (code == null) {
      throw HistoryMismatch.blocked(
          main,
          BlockReason.TYPE_UNKNOWN.name(),
          "workflow type %s, version \"%s\": not served by the worker that received it"
              .formatted(task.getWorkflowType(), task.getVersion()),
          null);
    }
    return code;
  }

  // Once a step is recorded, the input was accepted by some version of the code, so it is not
  // validated again.
  private @Nullable Object input(RegisteredWorkflow<?, ?> code, boolean nothingRecorded) {
    try {
      Type type = code.type().inputType();
      return nothingRecorded
          ? host.settings().payloads().decodeInput(task.getInput(), type)
          : host.settings().payloads().decode(task.getInput(), type);
    } catch (PayloadException e) {
      throw HistoryMismatch.blocked(
          main, BlockReason.INPUT_UNREADABLE.name(), "input: " + e.getMessage(), e);
    }
  }

  private void complete(RegisteredWorkflow<?, ?> code, @Nullable Object output, boolean openSteps) {
    warnIfSwallowed();
    ReportItem.WorkflowDone done =
        ReportItem.WorkflowDone.newBuilder()
            .setOutput(host.settings().payloads().encode(output, code.type().outputType()))
            .setOpenSteps(openSteps)
            .build();
    main.reports().finish(state.item().setWorkflowDone(done).build(), this::endAnswered);
  }

  // Code that was interrupted because its run stopped may throw anything, so only the stop reason
  // counts then.
  private void failOrConclude(Throwable last) {
    StopReason stopReason = state.stopReason();
    if (stopReason != null) {
      conclude(stopReason);
      return;
    }
    Throwable cleanUpFailure = state.cleanUpFailure();
    Throwable thrown =
        cleanUpFailure != null && Cancellation.isOf(runId(), last) ? cleanUpFailure : last;
    boolean isCancelled = Cancellation.isOf(runId(), thrown);
    ErrorDetail error =
        isCancelled ? Cancellation.error() : host.settings().failures().record(thrown);
    failure = isCancelled ? null : error;
    try {
      main.reports()
          .finish(
              failed(error),
              result -> {
                if (!isCancelled) {
                  logFailed(thrown, error, result);
                }
                endAnswered(result);
              });
    } catch (SuspendedError e) {
      conclude(state.stopReason());
    }
  }

  // The log shows only the sanitized error: what the sanitizer removes must not reach a log.
  private void logFailed(Throwable thrown, ErrorDetail error, ReportResult result) {
    boolean again = result.hasRetryScheduled();
    EventLog.Event event =
        log.warn(again ? "run failed, it will be tried again" : failedText(result))
            .about(logged)
            .with("attempt", task.getAttempt());
    if (again) {
      event.with("again_in_ms", result.getRetryScheduled().getDelayMs());
    }
    if (thrown instanceof WorkFailedException failed) {
      event.with("step", failed.step());
    }
    event
        .with("error", error.getMessage())
        .cause(host.settings().failures().loggable(thrown, error))
        .write();
  }

  private static String failedText(ReportResult result) {
    return result.getAccepted().getStatus() == WorkflowStatus.WORKFLOW_STATUS_CANCELLED
        ? "run was cancelled, and its code failed to clean up"
        : "run failed";
  }

  private ReportItem failed(ErrorDetail error) {
    return state
        .item()
        .setWorkflowFailed(ReportItem.WorkflowFailed.newBuilder().setError(error))
        .build();
  }

  private void warnIfSwallowed() {
    StopReason stopReason = state.stopReason();
    if (stopReason instanceof StopReason.Parked || stopReason instanceof StopReason.Continued) {
      log.warn(
              "workflow code caught the SuspendedError and returned, its result is ignored; "
                  + "code that catches Throwable must rethrow Errors")
          .about(logged)
          .write();
    }
    main.check();
  }

  private void conclude(@Nullable StopReason stopReason) {
    switch (stopReason) {
      case StopReason.Parked parked -> {
        rememberAsked();
        reportsEnded();
      }
      case StopReason.Continued continued -> {
        outcome = RunOutcome.COMPLETED;
        reportsEnded();
      }
      case StopReason.Lost lost -> reportsEnded();
      case StopReason.Overdue overdue -> {
        log.info("the run's deadline has passed, its code was interrupted").about(logged).write();
        reportsEnded();
      }
      // The method that released the run or cut it off sends the last report and handles its
      // answer.
      case StopReason.Released released -> {}
      case StopReason.CutOff cutOff -> {}
      case StopReason.Blocked(ErrorDetail why, Throwable cause) -> block(why, cause);
      case StopReason.StartOver startOver -> releaseRun(0, null, null);
      case StopReason.Refused(ErrorDetail why) -> {
        failure = why;
        state.conclude(failed(why), this::endAnswered);
      }
      case null ->
          block(
              HistoryMismatch.error(
                  "the execution stopped without a reason (expected: a stop reason; this is a bug of the SDK)",
                  null),
              null);
    }
  }

  /** Whether the code could not continue the run, which was therefore released for a while. */
  public boolean isBlocked() {
    return blocked;
  }

  private void block(ErrorDetail why, @Nullable Throwable cause) {
    ErrorDetail recorded = host.settings().failures().record(why);
    failure = recorded;
    releaseRun(
        host.blockedDelayMs(runId()),
        recorded,
        cause == null ? null : host.settings().failures().loggable(cause, recorded));
  }

  private void releaseRun(
      long delayMs, @Nullable ErrorDetail blockedBy, @Nullable Throwable cause) {
    ReportItem.Released.Builder released = ReportItem.Released.newBuilder().setDelayMs(delayMs);
    if (blockedBy != null) {
      blocked = true;
      released.setBlockedBy(blockedBy);
      log.warn("run is blocked, it is released and tried again later")
          .about(logged)
          .with("delay_ms", delayMs)
          .with("reason", blockedBy.getMessage())
          .cause(cause)
          .write();
    }
    state.conclude(state.item().setReleased(released).build(), this::releaseAnswered);
  }

  private void endAnswered(ReportResult result) {
    switch (result.getResultCase()) {
      case ACCEPTED -> {
        outcome = outcome(result.getAccepted().getStatus());
        reportsEnded();
      }
      case RETRY_SCHEDULED -> {
        retried = true;
        retryScheduled(result.getRetryScheduled());
      }
      case REFUSED -> endRefused(result.getRefused());
      default -> reportsEnded();
    }
  }

  // The server cannot store the output or the failure, so the run fails with this refusal instead.
  // If that is refused too, the run is blocked.
  private void endRefused(ErrorDetail why) {
    if (why.getCode() == ErrorCode.ERROR_CODE_NOT_FOUND) {
      // The run was deleted: there is nothing to end.
      reportsEnded();
      return;
    }
    failure = why;
    state.conclude(
        failed(why.toBuilder().setNonRetryable(true).build()),
        result -> {
          if (result.hasRefused()) {
            releaseRun(host.blockedDelayMs(runId()), result.getRefused(), null);
          } else {
            endAnswered(result);
          }
        });
  }

  private void releaseAnswered(ReportResult result) {
    if (result.hasRefused()) {
      log.warn("run could not be released, other workers get it at the end of its lease or before")
          .about(logged)
          .with("reason", result.getRefused().getMessage())
          .write();
    }
    reportsEnded();
  }

  private void rememberAsked() {
    Nondeterminism nondeterminism = host.settings().nondeterminism();
    if (nondeterminism != null && history != null) {
      nondeterminism.parked(task, history.asked());
    }
  }

  private static RunOutcome outcome(WorkflowStatus status) {
    return switch (status) {
      case WORKFLOW_STATUS_COMPLETED -> RunOutcome.COMPLETED;
      case WORKFLOW_STATUS_FAILED -> RunOutcome.FAILED;
      case WORKFLOW_STATUS_CANCELLED -> RunOutcome.CANCELLED;
      default -> RunOutcome.UNFINISHED;
    };
  }

  /** How the execution ended, as its trace shows it. */
  private String outcomeName() {
    return switch (outcome) {
      case COMPLETED ->
          state.stopReason() == null ? "completed" : StopReason.nameOf(state.stopReason());
      case FAILED -> "failed";
      case CANCELLED -> "cancelled";
      case UNFINISHED -> retried ? "retried" : StopReason.nameOf(state.stopReason());
    };
  }

  private void reportsEnded() {
    host.claimGone(this);
    slotHolders.ended();
  }

  private void slotFree() {
    try {
      state.trace().end(outcomeName(), failure);
      Nondeterminism nondeterminism = host.settings().nondeterminism();
      if (nondeterminism != null && outcome != RunOutcome.UNFINISHED) {
        nondeterminism.ended(task);
      }
    } finally {
      host.ended(this, outcome);
    }
  }
}
