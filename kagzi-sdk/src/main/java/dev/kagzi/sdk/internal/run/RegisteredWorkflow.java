package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowType;
import org.jspecify.annotations.Nullable;

/** A workflow that a worker serves. */
public record RegisteredWorkflow<I, O>(WorkflowType<I, O> type, Workflow<I, O> workflow) {
  // The registry holds codes of all types; the payload's type is the code's own.
  @SuppressWarnings("unchecked")
  @Nullable Object run(RunContext ctx, @Nullable Object input) throws Exception {
    return ((Workflow<Object, Object>) workflow).run(ctx, castNull(input));
  }

  // Workflows without input get null, whatever their type parameter says.
  @SuppressWarnings("NullAway")
  private static Object castNull(@Nullable Object input) {
    return input;
  }
}
