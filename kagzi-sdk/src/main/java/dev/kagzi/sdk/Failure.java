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
 * @param message what the exception said
 * @param nonRetryable no retry was allowed, whatever the policy
 * @param metadata what else was recorded with it; its known keys have methods of their own
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

  /** What sort of error it is. */
  public ErrorKind kind() {
    String name = metadata.getOrDefault(KIND, "");
    return Arrays.stream(ErrorKind.values())
        .filter(kind -> kind.name().equals(name))
        .findFirst()
        .orElse(ErrorKind.UNKNOWN);
  }

  /**
   * Whether the exception, or one of its causes, was of this class or, for the exception itself, of
   * a class that extends it. Classes are compared by name: it need not be the one that was thrown.
   */
  public boolean isA(Class<? extends Throwable> type) {
    String name = type.getName();
    return name.equals(this.type)
        || List.of(metadata.getOrDefault(SUPERTYPES, "").split(",")).contains(name)
        || causes().stream().anyMatch(cause -> cause.startsWith(name + ": "));
  }

  /** Where it was thrown, unless stacks are not recorded: {@link WorkerBuilder#recordStacks}. */
  public Optional<String> stack() {
    return Optional.ofNullable(metadata.get(STACK));
  }

  /** The causes of the exception from the outside in, each as {@code class: message}. */
  public List<String> causes() {
    return metadata.getOrDefault(CAUSE, "").lines().toList();
  }

  /** Of a run: the step whose failure ended it, if one did. */
  public Optional<String> step() {
    return Optional.ofNullable(metadata.get(STEP));
  }

  /**
   * The same failure with each of its texts changed: message, stack and causes. For an {@link
   * ErrorSanitizer}.
   */
  public Failure redacted(UnaryOperator<String> change) {
    Map<String, String> changed = new HashMap<>(metadata);
    changed.computeIfPresent(STACK, (key, text) -> change.apply(text));
    changed.computeIfPresent(CAUSE, (key, text) -> change.apply(text));
    return new Failure(type, change.apply(message), nonRetryable, changed);
  }

  @Override
  public String toString() {
    // An exception without a message says its class, and a terminated run says so itself.
    boolean saysType = message.equals(type) || message.startsWith(type + ": ");
    return type.isEmpty() || saysType ? message : type + ": " + message;
  }
}
