package dev.kagzi.engine.run;

import dev.kagzi.engine.value.Refusal;
import org.jspecify.annotations.Nullable;

/** Names that failure handlers go by. */
public final class FailureHandler {
  /** Whoever registers this type handles all failures of its namespace. */
  public static final String TYPE = "__kagzi_failure_handler";

  /** Under this key the metadata of a handler's input say what it is. */
  public static final String EVENT_KEY = "event";

  public static final String EVENT = "kagzi/workflow.failed";

  private FailureHandler() {}

  /** Refuses the reserved type to clients: only the server starts runs of it. */
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
