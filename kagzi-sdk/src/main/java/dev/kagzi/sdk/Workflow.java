package dev.kagzi.sdk;

/**
 * The code of a workflow, usually a method reference.
 *
 * <p>The code is executed again from its beginning when a run continues after a suspension, a retry
 * or a crash. Steps with a recorded result return it without being executed. Therefore put every
 * side effect, and everything that may differ between executions (clocks, random numbers, external
 * reads), into a step.
 *
 * @param <I> input type
 * @param <O> output type
 */
@FunctionalInterface
public interface Workflow<I, O> {
  /** Executes the workflow and returns its output. An exception fails the run. */
  O run(WorkflowContext ctx, I input) throws Exception;
}
