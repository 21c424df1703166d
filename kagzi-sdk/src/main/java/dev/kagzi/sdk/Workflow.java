package dev.kagzi.sdk;

/**
 * The code of a workflow, usually a method reference.
 *
 * <p>The code is executed again from its beginning whenever the run goes on after a pause, a retry
 * or a crash; steps that have a recorded result return it without being executed. Everything with
 * an effect, and everything whose outcome may differ the next time (clocks, random numbers, reads
 * from elsewhere), therefore belongs into a step.
 *
 * @param <I> input
 * @param <O> output
 */
@FunctionalInterface
public interface Workflow<I, O> {
  /** Executes the workflow; what it throws ends the run as failed. */
  O run(WorkflowContext ctx, I input) throws Exception;
}
