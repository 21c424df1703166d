package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.value.Refusal;
import org.jspecify.annotations.Nullable;

public final class FailureHandler {
  /** A worker that registers this type handles the failures of its namespace's runs. */
  public static final String TYPE = "__kagzi_failure_handler";

  /** Metadata key that marks the input of a handler as a failure event. */
  public static final String EVENT_KEY = "event";

  public static final String EVENT = "kagzi/workflow.failed";

  private FailureHandler() {}

  /** Refuses the reserved type, which only the server may start. */
  public static void refuse(String field, @Nullable String type) {
    if (type != null && type.equals(TYPE)) {
      throw Refusal.invalid(
          field,
          type,
          "another type; this one is reserved for the handler of all failures of a namespace, which"
              + " the server starts by itself");
    }
  }
}
