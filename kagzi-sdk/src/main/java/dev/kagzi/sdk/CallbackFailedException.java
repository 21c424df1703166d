package dev.kagzi.sdk;

/**
 * Thrown to workflow code when an outside system failed a callback.
 *
 * <p>The failure is the recorded answer of the callback, so a replay, the next attempt of the run
 * and a resume throw it again. {@link Failure#type} is what the outside system sent as the type of
 * its error; empty if it sent none.
 */
public final class CallbackFailedException extends WorkFailedException {

  /** Called by the SDK. */
  public CallbackFailedException(String step, Failure failure) {
    super(
        ClientCode.CALLBACK_FAILED,
        "callback %s failed: %s".formatted(step, failure),
        step,
        failure);
  }
}
