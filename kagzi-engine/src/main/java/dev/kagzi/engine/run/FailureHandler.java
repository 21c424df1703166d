package dev.kagzi.engine.run;

/** Names that failure handlers go by. */
public final class FailureHandler {
  /** Whoever registers this type handles all failures of its namespace. */
  public static final String TYPE = "__kagzi_failure_handler";

  /** Under this key the metadata of a handler's input say what it is. */
  public static final String EVENT_KEY = "event";

  public static final String EVENT = "kagzi/workflow.failed";

  private FailureHandler() {}
}
