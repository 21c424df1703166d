package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorCode;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.PayloadException;
import dev.kagzi.sdk.internal.log.EventLog;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One claim being executed, from its task to its last report. The slot is free when the code has
 * left its thread and the last report is answered. Thread-safe.
 */
public final class RunExecution {
  private static final EventLog log = EventLog.of(RunExecution.class);

  private final RunHost host;
  private final Task task;
  private final Thread thread;
  private final RunExecutionState progress;

  /** The workflow's own code. */
  private final WorkflowThread trunk;

  private final StuckCode stuck;
  private final SilentCode silent;

  /** The code, with its branches, and the last report: when all have ended, the slot is free. */
  private final AtomicInteger partsLeft = new AtomicInteger(2);

  private final SlotHolders parts =
      new SlotHolders() {
        @Override
        public void began() {
          partsLeft.incrementAndGet();
        }

        @Override
        public void ended() {
          partEnded();
        }
      };

  private @Nullable History history;

  private volatile RunOutcome outcome = RunOutcome.UNFINISHED;

  public RunExecution(RunHost host, Task task) {
    this.host = host;
    this.task = task;
    this.thread = Thread.ofVirtual().name(task.getWorkflowType()).unstarted(this::execute);
    this.progress = new RunExecutionState(host.lane(task), task);
    this.trunk = progress.open(thread, null);
    this.stuck = new StuckCode(task);
    this.silent = new SilentCode(task);
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
    progress.tick(nowNanos);
    WorkflowThread cutOff = progress.cutOff(nowNanos);
    if (cutOff != null) {
      // The application's code helps to record a failure: it has no place on the timers' thread,
      // and virtual threads may all be taken by the code that does not leave.
      Thread.ofPlatform()
          .name("kagzi-cut-off")
          .daemon()
          .start(() -> reportCutOff(cutOff, nowNanos));
    }
    WorkflowThread there = progress.stuck(nowNanos);
    if (there != null) {
      stuck.warn(there, nowNanos);
    }
    silent.tick(progress, nowNanos);
  }

  /** Whether the code was interrupted a while ago and is still there. */
  public boolean isStuck(long nowNanos) {
    return progress.stuck(nowNanos) != null;
  }

  // The run goes on elsewhere, with another attempt or with the failure.
  private void reportCutOff(WorkflowThread strand, long nowNanos) {
    RunningStep step = strand.running();
    if (step == null) {
      // It has left after all; that comes too late for it.
      giveBack(0, null, null);
      return;
    }
    Throwable place = new TimeoutException("the code that ignores its interrupt is here");
    place.setStackTrace(strand.thread().getStackTrace());
    ErrorDetail error = host.failures().record(step.timeout(place));
    progress.conclude(
        progress.item().setStepFailed(step.failed(error, false, nowNanos)).build(),
        this::cutOffAnswered);
  }

  private void cutOffAnswered(ReportResult result) {
    switch (result.getResultCase()) {
      case RETRY_SCHEDULED -> retryScheduled(result.getRetryScheduled());
      case CLAIM_LOST -> reportsEnded();
      default -> giveBack(0, null, null);
    }
  }

  private void retryScheduled(ReportResult.RetryScheduled retry) {
    if (retry.getClaimKept()) {
      giveBack(retry.getDelayMs(), null, null);
    } else {
      reportsEnded();
    }
  }

  /** A child of the run has ended, perhaps. */
  public void childEnded() {
    progress.childEnded();
  }

  /** The claim is gone, by a cancel or a take-over: interrupts the code. */
  public void lose() {
    host.claimGone(this);
    progress.stop(new StopReason.Lost());
  }

  /** Gives the run back and interrupts the code; false if it has ended or is about to. */
  public boolean release() {
    return progress.release(this::releaseAnswered);
  }

  /** Gives a run back whose code never started here. */
  public void releaseUnstarted() {
    if (progress.release(this::releaseAnswered)) {
      partEnded();
    } else if (!(progress.ending() instanceof StopReason.Released)) {
      // Lost before it began: there is nothing to say.
      reportsEnded();
      partEnded();
    }
  }

  private void execute() {
    trunk.enter();
    try {
      executeCode();
    } finally {
      progress.left(trunk);
      partEnded();
    }
  }

  private void executeCode() {
    try {
      // It may have waited for its slot for longer than it had time, or than it was ours.
      progress.tick(System.nanoTime());
      trunk.check();
      RegisteredWorkflow<?, ?> code = requireCode();
      RunContext context = context();
      Object input = input(code, context.history().isEmpty(""));
      Object output = run(code, context, input);
      complete(code, output, context.leavesOpenSteps());
    } catch (SuspendedError e) {
      conclude(progress.ending());
    } catch (Throwable e) {
      failOrConclude(e);
    }
  }

  private RunContext context() {
    Nondeterminism nondeterminism = host.nondeterminism();
    if (nondeterminism != null) {
      nondeterminism.check(trunk, task);
    }
    History known =
        new History(
            HistoryReader.load(host, task, trunk),
            nondeterminism == null ? Map.of() : nondeterminism.askedBefore(task));
    history = known;
    return new RunContext(host, task, known, trunk, parts);
  }

  private @Nullable Object run(
      RegisteredWorkflow<?, ?> code, RunContext context, @Nullable Object input) throws Exception {
    trunk.codeBegins();
    try {
      return host.around().run(context, () -> code.run(context, input));
    } finally {
      trunk.codeEnds();
    }
  }

  private RegisteredWorkflow<?, ?> requireCode() {
    RegisteredWorkflow<?, ?> code = host.code(task);
    if (code == null) {
      throw HistoryMismatch.blocked(
          trunk,
          BlockReason.TYPE_UNKNOWN.name(),
          "workflow type %s, version \"%s\": not served by the worker that received it"
              .formatted(task.getWorkflowType(), task.getVersion()),
          null);
    }
    return code;
  }

  // Once something is recorded, the run has been started with an input that was accepted, by other
  // code perhaps.
  private @Nullable Object input(RegisteredWorkflow<?, ?> code, boolean nothingRecorded) {
    try {
      Type type = code.type().inputType();
      return nothingRecorded
          ? host.payloads().decodeInput(task.getInput(), type)
          : host.payloads().decode(task.getInput(), type);
    } catch (PayloadException e) {
      throw HistoryMismatch.blocked(
          trunk, BlockReason.INPUT_UNREADABLE.name(), "input: " + e.getMessage(), e);
    }
  }

  private void complete(RegisteredWorkflow<?, ?> code, @Nullable Object output, boolean openSteps) {
    warnIfSwallowed();
    ReportItem.WorkflowDone done =
        ReportItem.WorkflowDone.newBuilder()
            .setOutput(host.payloads().encode(output, code.type().outputType()))
            .setOpenSteps(openSteps)
            .build();
    trunk.finish(progress.item().setWorkflowDone(done).build(), this::endAnswered);
  }

  // Code whose run was lost or released is interrupted, and may throw anything on its way out.
  private void failOrConclude(Throwable thrown) {
    StopReason ending = progress.ending();
    if (ending != null) {
      conclude(ending);
      return;
    }
    ErrorDetail error = host.failures().record(thrown);
    try {
      trunk.finish(
          failed(error),
          result -> {
            logFailed(thrown, error, result);
            endAnswered(result);
          });
    } catch (SuspendedError e) {
      conclude(progress.ending());
    }
  }

  // As it is recorded: what the sanitizer keeps out of the record has no place in a log either.
  private void logFailed(Throwable thrown, ErrorDetail error, ReportResult result) {
    boolean again = result.hasRetryScheduled();
    EventLog.Event event =
        log.warn(again ? "run failed, it will be tried again" : "run failed")
            .with("run", task.getRunId())
            .with("type", task.getWorkflowType())
            .with("attempt", task.getAttempt());
    if (again) {
      event.with("again_in_ms", result.getRetryScheduled().getDelayMs());
    }
    event.with("error", error.getMessage()).cause(host.failures().loggable(thrown, error)).write();
  }

  private ReportItem failed(ErrorDetail error) {
    return progress
        .item()
        .setWorkflowFailed(ReportItem.WorkflowFailed.newBuilder().setError(error))
        .build();
  }

  private void warnIfSwallowed() {
    StopReason ending = progress.ending();
    if (ending instanceof StopReason.Parked) {
      log.warn(
              "workflow code caught the suspension and returned, its result is ignored; "
                  + "code that catches Throwable must pass Errors on")
          .with("run", task.getRunId())
          .with("type", task.getWorkflowType())
          .write();
    }
    trunk.check();
  }

  private void conclude(@Nullable StopReason ending) {
    switch (ending) {
      case StopReason.Parked parked -> {
        rememberAsked();
        reportsEnded();
      }
      case StopReason.Lost lost -> reportsEnded();
      case StopReason.Overdue overdue -> {
        log.info("the run's deadline has passed, its code was interrupted")
            .with("run", task.getRunId())
            .with("type", task.getWorkflowType())
            .write();
        reportsEnded();
      }
      // Whoever released it, or cut it off, waits for the answers.
      case StopReason.Released released -> {}
      case StopReason.CutOff cutOff -> {}
      case StopReason.Blocked(ErrorDetail why, Throwable cause) -> block(why, cause);
      case StopReason.StartOver startOver -> giveBack(0, null, null);
      case StopReason.Refused(ErrorDetail why) -> progress.conclude(failed(why), this::endAnswered);
      case null -> block(HistoryMismatch.error("the run was left without a reason", null), null);
    }
  }

  private void block(ErrorDetail why, @Nullable Throwable cause) {
    ErrorDetail recorded = host.failures().record(why);
    giveBack(
        host.blockedDelayMs(runId()),
        recorded,
        cause == null ? null : host.failures().loggable(cause, recorded));
  }

  private void giveBack(long delayMs, @Nullable ErrorDetail blockedBy, @Nullable Throwable cause) {
    ReportItem.Released.Builder released = ReportItem.Released.newBuilder().setDelayMs(delayMs);
    if (blockedBy != null) {
      released.setBlockedBy(blockedBy);
      log.warn("run cannot go on with this code, given back")
          .with("run", task.getRunId())
          .with("type", task.getWorkflowType())
          .with("delay_ms", delayMs)
          .with("reason", blockedBy.getMessage())
          .cause(cause)
          .write();
    }
    progress.conclude(progress.item().setReleased(released).build(), this::releaseAnswered);
  }

  /** Hears what became of the run's own end. */
  private void endAnswered(ReportResult result) {
    switch (result.getResultCase()) {
      case ACCEPTED -> {
        outcome = outcome(result.getAccepted().getStatus());
        reportsEnded();
      }
      case RETRY_SCHEDULED -> retryScheduled(result.getRetryScheduled());
      case REFUSED -> endRefused(result.getRefused());
      default -> reportsEnded();
    }
  }

  // An output that cannot be stored is a failure of the run; a failure that cannot be stored blocks
  // it.
  private void endRefused(ErrorDetail why) {
    if (why.getCode() == ErrorCode.ERROR_CODE_NOT_FOUND) {
      // The run was deleted: there is nothing to end.
      reportsEnded();
      return;
    }
    progress.conclude(
        failed(why.toBuilder().setNonRetryable(true).build()),
        result -> {
          if (result.hasRefused()) {
            giveBack(host.blockedDelayMs(runId()), result.getRefused(), null);
          } else {
            endAnswered(result);
          }
        });
  }

  private void releaseAnswered(ReportResult result) {
    if (result.hasRefused()) {
      log.warn("run could not be given back, its lease will end")
          .with("run", task.getRunId())
          .with("reason", result.getRefused().getMessage())
          .write();
    }
    reportsEnded();
  }

  private void rememberAsked() {
    Nondeterminism nondeterminism = host.nondeterminism();
    if (nondeterminism != null && history != null) {
      nondeterminism.parked(task, history.asked());
    }
  }

  private static RunOutcome outcome(WorkflowStatus status) {
    return switch (status) {
      case WORKFLOW_STATUS_COMPLETED -> RunOutcome.COMPLETED;
      case WORKFLOW_STATUS_FAILED -> RunOutcome.FAILED;
      default -> RunOutcome.UNFINISHED;
    };
  }

  private void reportsEnded() {
    host.claimGone(this);
    partEnded();
  }

  private void partEnded() {
    if (partsLeft.decrementAndGet() == 0) {
      Nondeterminism nondeterminism = host.nondeterminism();
      if (nondeterminism != null && outcome != RunOutcome.UNFINISHED) {
        nondeterminism.ended(task);
      }
      host.ended(this, outcome);
    }
  }
}
