package dev.kagzi.sdk.internal.run;

/**
 * Leaves a workflow's code that shall not go on here and now. An {@link Error}, so that {@code
 * catch (Exception e)} lets it pass; without a stack, since it says nothing about a place in the
 * code.
 */
final class SuspendedError extends Error {
  SuspendedError() {
    super(
        "the run is suspended here and goes on later; code that catches Throwable must pass this on",
        null,
        false,
        false);
  }
}
