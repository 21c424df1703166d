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
    return type.isEmpty() ? message : type + ": " + message;
  }
}
