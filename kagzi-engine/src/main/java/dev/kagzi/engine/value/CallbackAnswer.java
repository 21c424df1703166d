package dev.kagzi.engine.value;

import java.util.Map;

/**
 * The answer of a callback. It is stored as a signal whose name begins with {@link #PREFIX}, so
 * that it is buffered, received once and kept over crashes as any signal is.
 */
public sealed interface CallbackAnswer {
  /**
   * The reserved prefix of the signal's name; the key of the step that made the callback follows.
   */
  String PREFIX = "callback:";

  /** The entry of the metadata that marks a stored failure. Its value is the message. */
  String FAILURE = "kagzi.failure";

  String FAILURE_TYPE = "kagzi.failure-type";

  /** The value that the code of the run gets. */
  record Completed(Payload payload) implements CallbackAnswer {}

  /**
   * The code of the run gets an exception.
   *
   * @param type a name by which code can tell failures apart; empty for none
   */
  record Failed(String message, String type) implements CallbackAnswer {}

  /** Returns the name, which is also the id, of the signal that answers a callback. */
  static String signalName(String stepKey) {
    return PREFIX + stepKey;
  }

  static boolean isSignalName(String name) {
    return name.startsWith(PREFIX);
  }

  /** Whether this content of a signal is the failure of a callback. */
  static boolean isFailure(Payload payload) {
    return payload.metadata().containsKey(FAILURE);
  }

  /** Returns the content of the signal. */
  default Payload stored() {
    return switch (this) {
      case Completed(Payload payload) -> {
        if (isFailure(payload)) {
          throw Refusal.invalid(
              "payload.metadata",
              "an entry " + FAILURE,
              "none; to fail a callback, send a failure");
        }
        yield payload;
      }
      case Failed(String message, String type) ->
          new Payload(new byte[0], Map.of(FAILURE, message, FAILURE_TYPE, type));
    };
  }
}
