package dev.kagzi.sdk.internal.run;

/**
 * Unwinds workflow code that must not continue here. An {@link Error}, so that {@code catch
 * (Exception e)} does not catch it. It has no stack trace, because it reports no fault in the code.
 */
class SuspendedError extends Error {
  SuspendedError() {
    super(
        "this execution of the run ends here; code that catches Throwable must rethrow this",
        null,
        false,
        false);
  }
}
