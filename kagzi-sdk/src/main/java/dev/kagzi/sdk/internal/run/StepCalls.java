package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.StepAction;
import dev.kagzi.sdk.StepCode;
import dev.kagzi.sdk.internal.jdbc.StepClaim;
import dev.kagzi.sdk.internal.jdbc.StepTransaction;
import dev.kagzi.sdk.jdbc.TransactionCode;
import dev.kagzi.sdk.jdbc.Transactions;
import java.lang.reflect.Type;
import java.time.Instant;

/**
 * The calls of one context that execute code as a step. Each checks the use of the context, gives
 * the step its key, and takes its recorded result. Only its workflow thread may use it.
 */
final class StepCalls {
  private static final String NOW = "now";

  private final RunContext context;
  private final ScopeHistory scopeHistory;
  private final Task task;
  private final RunHost.Settings settings;
  private final WorkflowThread workflowThread;
  private final Steps steps;

  StepCalls(
      RunContext context,
      ScopeHistory scopeHistory,
      Task task,
      RunHost.Settings settings,
      WorkflowThread workflowThread) {
    this.context = context;
    this.scopeHistory = scopeHistory;
    this.task = task;
    this.settings = settings;
    this.workflowThread = workflowThread;
    this.steps =
        new Steps(
            new RunRef(
                settings.namespace(),
                task.getRunId(),
                task.getWorkflowType(),
                task.getHeadersMap()),
            settings.payloads(),
            settings.failures(),
            settings.interceptors(),
            settings.metrics(),
            workflowThread,
            task.getStepTimeoutMs());
  }

  // The codec decoded the value for exactly this type; null is allowed.
  @SuppressWarnings({"unchecked", "NullAway", "TypeParameterUnusedInFormals"})
  <T> T execute(String name, StepOptions options, Type type, StepCode<?> code) {
    String key = nextKey(name);
    return (T)
        steps.execute(
            new Steps.Call(name, key, options, type, code),
            scopeHistory.take(key, StepKind.STEP_KIND_FUNCTION));
  }

  @SuppressWarnings("NullAway") // A step without a result returns null.
  void executeAction(String name, StepOptions options, StepAction code) {
    Object unused =
        execute(
            name,
            options,
            Void.class,
            step -> {
              code.run();
              return null;
            });
  }

  // The codec decoded the value for exactly this type; null is allowed.
  @SuppressWarnings({"unchecked", "NullAway", "TypeParameterUnusedInFormals"})
  <T> T transaction(
      String name,
      StepOptions options,
      Transactions transactions,
      Type type,
      TransactionCode<?> code) {
    String key = nextKey(name);
    StepClaim claim = new StepClaim(settings.namespace(), task.getRunId(), key, task.getEpoch());
    TransactionStep step =
        new TransactionStep(
            workflowThread,
            settings.payloads(),
            new StepTransaction(transactions, claim),
            key,
            type);
    // Only a replay of a history file has an observer, and it has no database.
    boolean hasDatabase = settings.observer() == null;
    return (T)
        steps.execute(
            new Steps.Call(
                name, key, options, type, scope -> step.execute(code), hasDatabase ? step : null),
            scopeHistory.takeTransaction(key));
  }

  Instant now() {
    String key = nextKey(NOW);
    return steps.now(key, scopeHistory.take(key, StepKind.STEP_KIND_FUNCTION), task);
  }

  private String nextKey(String name) {
    context.checkUse();
    return context.nextKey(name);
  }
}
