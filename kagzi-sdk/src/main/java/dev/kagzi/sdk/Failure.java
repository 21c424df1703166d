package dev.kagzi.sdk;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A recorded error of a step or a run.
 *
 * @param type name of the exception's class; empty if unknown
 * @param message message of the exception
 * @param nonRetryable whether retries were ruled out, regardless of the retry policy
 * @param metadata further recorded details; the methods of this record read the known keys
 */
public record Failure(
    String type, String message, boolean nonRetryable, Map<String, String> metadata) {
  private static final String KIND = "kind";
  private static final String STACK = "stack";
  private static final String CAUSE = "cause";
  private static final String STEP = "step";
  private static final String SUPERTYPES = "supertypes";

  public Failure {
    metadata = Map.copyOf(metadata);
  }

  /** Returns the category of the error; {@link ErrorKind#UNKNOWN} if it was not classified. */
  public ErrorKind kind() {
    String name = metadata.getOrDefault(KIND, "");
    return Arrays.stream(ErrorKind.values())
        .filter(kind -> kind.name().equals(name))
        .findFirst()
        .orElse(ErrorKind.UNKNOWN);
  }

  /**
   * Returns whether the exception was of this class or a subclass, or one of its causes was of
   * exactly this class. Classes are compared by name, so the original class need not be on the
   * classpath. {@code Throwable} is not recorded as a superclass, so {@code isA(Throwable.class)}
   * is false for its subclasses.
   */
  public boolean isA(Class<? extends Throwable> type) {
    String name = type.getName();
    return name.equals(this.type)
        || List.of(metadata.getOrDefault(SUPERTYPES, "").split(",")).contains(name)
        || causes().stream().anyMatch(cause -> cause.startsWith(name + ": "));
  }

  /**
   * Returns the stack trace; empty if {@link WorkerBuilder#recordStacks} is off, or if no exception
   * caused the failure.
   */
  public Optional<String> stack() {
    return Optional.ofNullable(metadata.get(STACK));
  }

  /** Returns the causes of the exception, outermost first, each as {@code class: message}. */
  public List<String> causes() {
    return metadata.getOrDefault(CAUSE, "").lines().toList();
  }

  /** Returns the step whose failure ended the run; empty if no step did. */
  public Optional<String> step() {
    return Optional.ofNullable(metadata.get(STEP));
  }

  /**
   * Returns a copy whose texts (message, stack and causes) are changed by the function. Intended
   * for an {@link ErrorSanitizer}.
   */
  public Failure redacted(UnaryOperator<String> change) {
    Map<String, String> changed = new HashMap<>(metadata);
    changed.computeIfPresent(STACK, (key, text) -> change.apply(text));
    changed.computeIfPresent(CAUSE, (key, text) -> change.apply(text));
    return new Failure(type, change.apply(message), nonRetryable, changed);
  }

  @Override
  public String toString() {
    // Do not print the type twice: the message of an exception without text is its class name, and
    // a terminated run's message begins with its type.
    boolean namesType = message.equals(type) || message.startsWith(type + ": ");
    return type.isEmpty() || namesType ? message : type + ": " + message;
  }
}
