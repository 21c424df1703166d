package dev.kagzi.sdk;

import dev.kagzi.sdk.internal.run.NameRules;
import java.lang.reflect.Type;
import java.util.Objects;

/**
 * The name of a workflow with the types of its input and output, shared by those who start it and
 * those who execute it. A constant is a good place for it.
 *
 * <p>The type may carry the task queue on which its runs go: {@code
 * WorkflowType.of("process-order", Order.class, Receipt.class).queue("orders")}. A start without a
 * queue of its own uses it, and so does a worker that names no queue. Without it, that is {@value
 * Kagzi#DEFAULT_QUEUE}.
 *
 * @param <I> input
 * @param <O> output
 */
public final class WorkflowType<I, O> {
  private final String name;
  private final String version;
  private final String queue;
  private final Type inputType;
  private final Type outputType;

  private WorkflowType(String name, String version, String queue, Type inputType, Type outputType) {
    this.name = NameRules.check("workflow type", name);
    this.version = version;
    this.queue = NameRules.check("queue", queue);
    this.inputType = Objects.requireNonNull(inputType, "inputType");
    this.outputType = Objects.requireNonNull(outputType, "outputType");
  }

  /** A type with plain classes as input and output; {@code Void.class} stands for none. */
  public static <I, O> WorkflowType<I, O> of(String name, Class<I> input, Class<O> output) {
    return new WorkflowType<>(name, "", Kagzi.DEFAULT_QUEUE, input, output);
  }

  /** A type whose input or output has type parameters. */
  public static <I, O> WorkflowType<I, O> of(String name, TypeRef<I> input, TypeRef<O> output) {
    return new WorkflowType<>(name, "", Kagzi.DEFAULT_QUEUE, input.type(), output.type());
  }

  /**
   * The same type in another version. A run stays on the version with which it started, and only
   * workers that serve that version receive it.
   */
  public WorkflowType<I, O> version(String version) {
    return new WorkflowType<>(
        name, NameRules.check("version", version), queue, inputType, outputType);
  }

  /** The same type with another queue for its runs. */
  public WorkflowType<I, O> queue(String queue) {
    return new WorkflowType<>(name, version, queue, inputType, outputType);
  }

  public String name() {
    return name;
  }

  /** Empty for the type's default version. */
  public String version() {
    return version;
  }

  public String queue() {
    return queue;
  }

  public Type inputType() {
    return inputType;
  }

  public Type outputType() {
    return outputType;
  }

  @Override
  public String toString() {
    return version.isEmpty() ? name : name + " (version " + version + ")";
  }
}
