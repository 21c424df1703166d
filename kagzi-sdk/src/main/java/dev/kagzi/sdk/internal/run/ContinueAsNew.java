package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.WorkflowStatus;
import dev.kagzi.sdk.ContextMisuseException;
import dev.kagzi.sdk.ContextMisuseException.Misuse;
import java.lang.invoke.MethodType;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;

/** Ends a run and starts its successor. */
final class ContinueAsNew {
  /** The name of the step that records a refusal, or a cancel that the code learns of here. */
  private static final String STEP = "continue-as-new";

  private static final String CODE = "code";
  private static final String OPEN_STEPS = "OPEN_STEPS";

  private final RunContext context;
  private final WorkflowThread workflowThread;

  ContinueAsNew(RunContext context, WorkflowThread workflowThread) {
    this.context = context;
    this.workflowThread = workflowThread;
  }

  /**
   * Always throws: {@code throw end(..)}.
   *
   * @param version the version of the successor; null for the version of this run
   */
  SuspendedError end(Type type, @Nullable Object input, @Nullable String version) {
    context.checkUse();
    checkScope();
    checkType(type, input);
    String key = context.nextKey(STEP);
    RecordedStep recorded = context.takeRefusal(key);
    if (recorded != null && recorded.hasFinalFailure()) {
      throw refused(recorded.getFinalFailure());
    }
    ReportItem.ContinueAsNew.Builder next =
        ReportItem.ContinueAsNew.newBuilder()
            .setInput(context.payloads().encodeInput(input, type))
            .setOpenSteps(context.leavesOpenSteps())
            .setStepKey(key);
    if (version != null) {
      next.setVersion(version);
    }
    ReportResult result =
        workflowThread.reports().report(workflowThread.item().setContinueAsNew(next).build());
    if (result.hasRefused()) {
      throw refused(result.getRefused());
    }
    if (result.getAccepted().getStatus() == WorkflowStatus.WORKFLOW_STATUS_RUNNING) {
      // A cancel came first. The server has recorded that the code learns of it here.
      throw context.cancelled();
    }
    throw workflowThread.end(
        result.hasAccepted() ? new StopReason.Continued() : new StopReason.StartOver());
  }

  // The main code waits while its branches run, so only the code of a branch can call this while
  // branches are open. Undos and clean-ups have a scope as well and are refused too.
  private void checkScope() {
    String scope = context.scope();
    if (!scope.isEmpty()) {
      throw new ContextMisuseException(
          Misuse.OPEN_WORK,
          "run %s: cannot continue as new in %s (expected: in the main code, after all branches have ended)"
              .formatted(context.runId(), scope.substring(0, scope.length() - 1)));
    }
  }

  private static void checkType(Type type, @Nullable Object input) {
    if (type instanceof Class<?> expected
        && input != null
        && !MethodType.methodType(expected).wrap().returnType().isInstance(input)) {
      throw new IllegalArgumentException(
          "input: a %s (expected: a %s, the input type of the workflow)"
              .formatted(input.getClass().getName(), expected.getName()));
    }
  }

  private RuntimeException refused(ErrorDetail why) {
    if (why.getMetadataOrDefault(CODE, "").equals(OPEN_STEPS)) {
      return new ContextMisuseException(Misuse.OPEN_WORK, why.getMessage());
    }
    throw workflowThread.end(new StopReason.Refused(why));
  }
}
