package dev.kagzi.sdk;

import dev.kagzi.sdk.internal.run.NameRules;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The name of a workflow with its input and output types, shared by the code that starts it and the
 * workers that execute it. Usually a constant:
 *
 * <pre>{@code
 * static final WorkflowType<Order, Receipt> PROCESS_ORDER =
 *     WorkflowType.of("process-order", Order.class, Receipt.class).queue("orders");
 * }</pre>
 *
 * <p>The task queue of the type is used by starts that set no queue and by workers without queues;
 * {@value Kagzi#DEFAULT_QUEUE} by default. Immutable.
 *
 * @param <I> input type
 * @param <O> output type
 */
public final class WorkflowType<I, O> {
  private static final Duration CLEAN_UP_MAX = Duration.ofDays(365);

  private final String name;
  private final String version;
  private final String queue;
  private final Type inputType;
  private final Type outputType;
  private final @Nullable Duration cleanUpTime;

  private WorkflowType(
      String name,
      String version,
      String queue,
      Type inputType,
      Type outputType,
      @Nullable Duration cleanUpTime) {
    this.name = NameRules.check("workflow type", name);
    this.version = version;
    this.queue = NameRules.check("queue", queue);
    this.inputType = Objects.requireNonNull(inputType, "inputType");
    this.outputType = Objects.requireNonNull(outputType, "outputType");
    this.cleanUpTime = cleanUpTime;
  }

  /** Returns a type with classes as input and output; use {@code Void.class} for none. */
  public static <I, O> WorkflowType<I, O> of(String name, Class<I> input, Class<O> output) {
    return new WorkflowType<>(name, "", Kagzi.DEFAULT_QUEUE, input, output, null);
  }

  /** Returns a type with generic input or output types. */
  public static <I, O> WorkflowType<I, O> of(String name, TypeRef<I> input, TypeRef<O> output) {
    return new WorkflowType<>(name, "", Kagzi.DEFAULT_QUEUE, input.type(), output.type(), null);
  }

  /**
   * Returns a copy with another version. A run keeps the version that it was started with, and only
   * workers that serve that version receive it.
   */
  public WorkflowType<I, O> version(String version) {
    return new WorkflowType<>(
        name, NameRules.check("version", version), queue, inputType, outputType, cleanUpTime);
  }

  /** Returns a copy with another task queue. */
  public WorkflowType<I, O> queue(String queue) {
    return new WorkflowType<>(name, version, queue, inputType, outputType, cleanUpTime);
  }

  /**
   * Returns a copy whose runs clean up when they are cancelled, instead of ending at once:
   *
   * <pre>{@code
   * WorkflowType.of("order", Order.class, Receipt.class)
   *     .onCancel(OnCancel.CLEAN_UP, Duration.ofMinutes(5));
   * }</pre>
   *
   * <p>The code receives a {@link RunCancelledException} and has this long to clean up; then the
   * run ends as CANCELLED. The type that the worker registered applies, not that of the starter:
   * the server uses the setting of the worker that received the run last. A run that no worker has
   * received yet ends at once.
   *
   * @param grace how long the code may clean up, counted from the cancel; 1 ms to 365 days
   */
  public WorkflowType<I, O> onCancel(OnCancel cleanUp, Duration grace) {
    Objects.requireNonNull(cleanUp, "cleanUp");
    if (grace.toMillis() < 1 || grace.compareTo(CLEAN_UP_MAX) > 0) {
      throw new IllegalArgumentException("grace: " + grace + " (expected: PT0.001S to 365 days)");
    }
    return new WorkflowType<>(name, version, queue, inputType, outputType, grace);
  }

  /** Returns the workflow's name. */
  public String name() {
    return name;
  }

  /** Returns the version; empty for the type's default version. */
  public String version() {
    return version;
  }

  /** Returns the task queue. */
  public String queue() {
    return queue;
  }

  /** Returns the input type. */
  public Type inputType() {
    return inputType;
  }

  /** Returns the output type. */
  public Type outputType() {
    return outputType;
  }

  /** Returns how long the code may clean up after a cancel; empty if a cancel ends the run. */
  public Optional<Duration> cleanUpTime() {
    return Optional.ofNullable(cleanUpTime);
  }

  @Override
  public String toString() {
    return version.isEmpty() ? name : name + " (version " + version + ")";
  }
}
