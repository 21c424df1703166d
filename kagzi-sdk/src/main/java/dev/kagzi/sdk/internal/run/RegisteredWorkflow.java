package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowType;
import org.jspecify.annotations.Nullable;

public record RegisteredWorkflow<I, O>(WorkflowType<I, O> type, Workflow<I, O> workflow) {
  // The registry holds workflows of all types; the input was decoded for this workflow's type.
  @SuppressWarnings("unchecked")
  @Nullable Object run(RunContext ctx, @Nullable Object input) throws Exception {
    return ((Workflow<Object, Object>) workflow).run(ctx, castNull(input));
  }

  // Workflows without input get null even if their type parameter does not allow it.
  @SuppressWarnings("NullAway")
  private static Object castNull(@Nullable Object input) {
    return input;
  }
}
