package dev.kagzi.sdk;

/**
 * Sees every failure of a worker's steps and runs before it leaves the process, and says what is
 * stored instead. The place to remove secrets and personal data:
 *
 * <pre>{@code
 * kagzi.worker("payments")
 *     .errorSanitizer(failure -> failure.redacted(text -> CARD_NUMBER.matcher(text).replaceAll("****")))
 * }</pre>
 *
 * <p>What it returns is also what the workflow's code sees in {@link
 * WorkFailedException#failure()}. If it throws, the failure is stored with the exception's class
 * and without any text of it. Must be thread-safe.
 */
@FunctionalInterface
public interface ErrorSanitizer {
  /** Returns what is stored in place of the failure, or the failure itself. */
  Failure sanitize(Failure failure);
}
