package dev.kagzi.spring;

import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.util.Objects;

/**
 * A workflow as a bean: its type and its code. The worker of the type's queue serves it, unless
 * {@code kagzi.worker.queues} omits that queue or {@code kagzi.worker.enabled} is false.
 *
 * <p>Either a component implements it, or a configuration makes it from a method:
 *
 * <pre>{@code
 * @Bean
 * WorkflowDefinition<Order, Receipt> processOrder(Orders orders) {
 *   return WorkflowDefinition.of(PROCESS_ORDER, orders::process);
 * }
 * }</pre>
 *
 * @param <I> input type
 * @param <O> output type
 */
public interface WorkflowDefinition<I, O> extends Workflow<I, O> {
  /** Returns the type by which runs are started. */
  WorkflowType<I, O> type();

  /** Returns a definition of this type and code. */
  static <I, O> WorkflowDefinition<I, O> of(WorkflowType<I, O> type, Workflow<I, O> code) {
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(code, "code");
    return new WorkflowDefinition<>() {
      @Override
      public WorkflowType<I, O> type() {
        return type;
      }

      @Override
      public O run(WorkflowContext ctx, I input) throws Exception {
        return code.run(ctx, input);
      }
    };
  }
}
