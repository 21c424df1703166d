package dev.kagzi.sdk;

/**
 * The category of an error, recorded with each failure. A {@link Retry} can select by it: {@link
 * Retry#onlyOn}, {@link Retry#onlyOnRetryable}, {@link Retry#notOn(ErrorKind, ErrorKind...)}.
 *
 * <p>The SDK classifies common exceptions of the JDK, also when they are the cause of another
 * exception. Classify your own exceptions with {@link WorkerBuilder#errorKinds}.
 */
public enum ErrorKind {
  /** The remote side could not be reached, or the connection broke. */
  NETWORK(true),
  /** The operation took too long, for example a step that exceeded its timeout. */
  TIMEOUT(true),
  DATABASE(true),
  RATE_LIMIT(true),
  /** The remote side answered that it cannot serve requests now. */
  UNAVAILABLE(true),
  NOT_FOUND(false),
  UNAUTHORIZED(false),
  BAD_REQUEST(false),
  VALIDATION(false),
  /** Not classified. Retried, unless the policy retries only other kinds. */
  UNKNOWN(false);

  private final boolean retryable;

  ErrorKind(boolean retryable) {
    this.retryable = retryable;
  }

  /**
   * Returns whether {@link Retry#onlyOnRetryable} retries this kind. Other policies ignore it: by
   * default, errors of every kind are retried.
   */
  public boolean isRetryable() {
    return retryable;
  }
}
