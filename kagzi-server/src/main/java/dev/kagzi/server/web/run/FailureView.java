package dev.kagzi.server.web.run;

import dev.kagzi.engine.value.Failure;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A failure as the pages show it.
 *
 * @param kind such as NETWORK; empty if it is not known
 * @param step the key of the step that failed the run; empty for none
 * @param causes outermost first
 * @param stack empty for none
 */
public record FailureView(
    String kind, String text, String step, List<String> causes, String stack, boolean isFinal) {
  private static final String UNKNOWN = "UNKNOWN";

  public FailureView {
    causes = List.copyOf(causes);
  }

  static @Nullable FailureView of(@Nullable Failure failure) {
    if (failure == null) {
      return null;
    }
    String kind = meta(failure, "kind");
    return new FailureView(
        kind.equals(UNKNOWN) ? "" : kind,
        text(failure),
        meta(failure, "step"),
        meta(failure, "cause").lines().toList(),
        meta(failure, "stack"),
        failure.nonRetryable());
  }

  /** Returns type and message: {@code java.net.ConnectException: refused}. */
  static String text(Failure failure) {
    String type = meta(failure, "type");
    String message = failure.message();
    // Exceptions without a message, and terminated runs, already have the type in the message.
    boolean hasType = type.isEmpty() || message.equals(type) || message.startsWith(type + ": ");
    return hasType ? message : type + ": " + message;
  }

  private static String meta(Failure failure, String name) {
    return failure.metadata().getOrDefault(name, "");
  }
}
