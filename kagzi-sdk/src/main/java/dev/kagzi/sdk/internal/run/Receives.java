package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.PayloadException;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.internal.trace.TraceScope;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Receives signals as steps. The server decides which signal a step gets, and whether a signal or
 * the timeout came first. Only its workflow thread may use it.
 */
final class Receives {
  private final RunContext context;
  private final WorkflowThread workflowThread;

  Receives(RunContext context, WorkflowThread workflowThread) {
    this.context = context;
    this.workflowThread = workflowThread;
  }

  <T> T receive(Signal<T> signal) {
    return value(signal, received(signal.name(), signal.name(), null));
  }

  <T> Optional<T> receive(Signal<T> signal, Duration timeout) {
    if (timeout.isNegative()) {
      throw new IllegalArgumentException("timeout: " + timeout + " (expected: >= 0)");
    }
    RecordedStep step = received(signal.name(), signal.name(), ProtoMapper.millis(timeout));
    return step.hasTimedOut() ? Optional.empty() : Optional.of(value(signal, step));
  }

  /** Receives the answer of a callback, whose signal has another name than the step. */
  RecordedStep answer(String stepName, String signalName, @Nullable Long timeoutMs) {
    return received(stepName, signalName, timeoutMs);
  }

  private RecordedStep received(String stepName, String signalName, @Nullable Long timeoutMs) {
    context.checkUse();
    String key = context.nextKey(stepName);
    RecordedStep recorded = context.take(key, StepKind.STEP_KIND_SIGNAL);
    if (recorded != null && isOver(recorded)) {
      return recorded;
    }
    context.history().receiveBegan(key);
    RecordedStep step =
        recorded == null
            ? awaitTraced(stepName, key, signalName, timeoutMs)
            : await(key, signalName, timeoutMs, recorded);
    context.history().receiveEnded();
    return step;
  }

  // The span of a receive is in the trace once: the execution that begins the receive has it.
  private RecordedStep awaitTraced(
      String stepName, String key, String signalName, @Nullable Long timeoutMs) {
    TraceScope span = workflowThread.state().trace().receive(stepName, key);
    try {
      return await(key, signalName, timeoutMs, null);
    } finally {
      span.close();
    }
  }

  private boolean isOver(RecordedStep recorded) {
    HistoryMismatch.requireKind(workflowThread, recorded, StepKind.STEP_KIND_SIGNAL);
    return switch (recorded.getResultCase()) {
      case OUTPUT, TIMED_OUT -> true;
      case SLEEPS_MS, OPEN -> false;
      case FINAL_FAILURE, RETRY, RESULT_NOT_SET ->
          throw HistoryMismatch.unreadable(workflowThread, recorded);
    };
  }

  private RecordedStep await(
      String key, String name, @Nullable Long timeoutMs, @Nullable RecordedStep recorded) {
    if (recorded != null && !workflowThread.isAlone()) {
      // When the run continues, each branch that waited comes here again. awaitStep asks the server
      // about the steps of all branches with one report.
      RecordedStep step =
          workflowThread.awaitStep(
              key,
              recorded.hasSleepsMs()
                  ? Suspension.forStep(
                      key,
                      workflowThread.state().historyNanos()
                          + TimeUnit.MILLISECONDS.toNanos(recorded.getSleepsMs()))
                  : Suspension.forStep(key));
      if (step != null) {
        return step;
      }
    }
    while (true) {
      ReportResult result = report(key, name, timeoutMs);
      switch (result.getResultCase()) {
        case RECEIVED -> {
          return result.getReceived();
        }
        case RECEIVING -> {
          RecordedStep step = awaitStep(key, result.getReceiving());
          if (step != null) {
            return step;
          }
        }
        case REFUSED -> throw workflowThread.end(new StopReason.Refused(result.getRefused()));
        default -> throw workflowThread.end(new StopReason.StartOver());
      }
    }
  }

  private ReportResult report(String key, String name, @Nullable Long timeoutMs) {
    ReportItem.ReceiveStarted.Builder receive =
        ReportItem.ReceiveStarted.newBuilder()
            .setStepKey(key)
            .setSignalName(name)
            .setKeepClaim(!workflowThread.isAlone());
    if (timeoutMs != null) {
      receive.setTimeoutMs(timeoutMs);
    }
    return workflowThread.reports().report(workflowThread.item().setReceive(receive).build());
  }

  /** Returns null if the timeout has passed, which the server must confirm. */
  private @Nullable RecordedStep awaitStep(String key, ReportResult.Receiving receiving) {
    if (!receiving.getClaimKept()) {
      throw workflowThread.end(new StopReason.Parked());
    }
    return workflowThread.awaitStep(
        key,
        receiving.hasRemainingMs()
            ? Suspension.forStep(
                key, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(receiving.getRemainingMs()))
            : Suspension.forStep(key));
  }

  // The codec decoded the value for exactly this type.
  @SuppressWarnings("unchecked")
  private <T> T value(Signal<T> signal, RecordedStep step) {
    return (T) decode(step, signal.type());
  }

  Object decode(RecordedStep step, Type type) {
    Object value;
    try {
      value = context.payloads().decode(step.getOutput(), type);
    } catch (PayloadException e) {
      throw unreadable(step, String.valueOf(e.getMessage()), e);
    }
    if (value == null) {
      throw unreadable(step, "null (expected: a value)", null);
    }
    return value;
  }

  private SuspendedError unreadable(RecordedStep step, String why, @Nullable Throwable cause) {
    return HistoryMismatch.blocked(
        workflowThread,
        BlockReason.RESULT_UNREADABLE.name(),
        "signal %s: %s".formatted(step.getStepKey(), why),
        cause);
  }
}
