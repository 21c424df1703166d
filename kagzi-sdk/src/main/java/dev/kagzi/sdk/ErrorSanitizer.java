package dev.kagzi.sdk;

/**
 * Changes the failures of a worker's steps and runs before they leave the process. Use it to remove
 * secrets and personal data:
 *
 * <pre>{@code
 * kagzi.worker("payments")
 *     .errorSanitizer(failure -> failure.redacted(text -> CARD_NUMBER.matcher(text).replaceAll("****")))
 * }</pre>
 *
 * <p>The server stores only the returned failure, and workflow code sees the same in {@link
 * WorkFailedException#failure()}. If the sanitizer throws or returns null, the failure is stored
 * with the class of the original exception, but without message, stack trace and causes.
 * Implementations must be thread-safe.
 */
@FunctionalInterface
public interface ErrorSanitizer {
  /** Returns the failure to store: a changed one, or the given one. */
  Failure sanitize(Failure failure);
}
