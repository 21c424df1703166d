package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.sdk.Callback;
import dev.kagzi.sdk.InvalidArgumentException;
import java.lang.reflect.Type;

/**
 * Makes callbacks as steps. The server makes the URL and records the step, before the code gets the
 * URL. Only its workflow thread may use it.
 */
final class Callbacks {
  private final RunContext context;
  private final WorkflowThread workflowThread;

  Callbacks(RunContext context, WorkflowThread workflowThread) {
    this.context = context;
    this.workflowThread = workflowThread;
  }

  <T> Callback<T> callback(String name, Type type) {
    context.checkUse();
    // The step that waits for the answer has this name with a prefix, and must not be too long.
    if (name.length() + RunCallback.AWAIT.length() > NameRules.LENGTH_MAX) {
      throw new InvalidArgumentException(
          "INVALID_NAME",
          "callback name: %d characters (expected: at most %d)"
              .formatted(name.length(), NameRules.LENGTH_MAX - RunCallback.AWAIT.length()));
    }
    String key = context.nextKey(name);
    RecordedStep recorded = context.take(key, StepKind.STEP_KIND_CALLBACK);
    RecordedStep step = recorded == null ? report(key) : recorded;
    HistoryMismatch.requireKind(workflowThread, step, StepKind.STEP_KIND_CALLBACK);
    if (!step.hasOutput()) {
      throw HistoryMismatch.unreadable(workflowThread, step);
    }
    return new RunCallback<>(context, name, key, type, step.getCallbackUrl());
  }

  private RecordedStep report(String key) {
    ReportResult result =
        workflowThread
            .reports()
            .report(
                workflowThread
                    .item()
                    .setCallback(ReportItem.CallbackStarted.newBuilder().setStepKey(key))
                    .build());
    return switch (result.getResultCase()) {
      case ALREADY_RECORDED -> result.getAlreadyRecorded();
      case REFUSED -> throw workflowThread.end(new StopReason.Refused(result.getRefused()));
      default -> throw workflowThread.end(new StopReason.StartOver());
    };
  }
}
