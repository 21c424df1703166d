package dev.kagzi.sdk;

/**
 * What sort of error a failure is, recorded with it. A {@link Retry} can choose by it: {@link
 * Retry#onlyOn}, {@link Retry#onlyOnRetryable}, {@link Retry#notOn(ErrorKind, ErrorKind...)}.
 *
 * <p>The SDK knows the kinds of some exceptions of Java's own libraries, through their causes; an
 * application says the rest with {@link WorkerBuilder#errorKinds}.
 */
public enum ErrorKind {
  /** The other side could not be reached, or the connection broke. */
  NETWORK(true),
  /** It took too long; a step that ran into its time-out is one of these. */
  TIMEOUT(true),
  DATABASE(true),
  RATE_LIMIT(true),
  /** The other side is there and cannot serve now. */
  UNAVAILABLE(true),
  NOT_FOUND(false),
  UNAUTHORIZED(false),
  BAD_REQUEST(false),
  VALIDATION(false),
  /** Nobody said. Retried unless the policy names the kinds that are. */
  UNKNOWN(false);

  private final boolean retryable;

  ErrorKind(boolean retryable) {
    this.retryable = retryable;
  }

  /** Whether the same attempt may well succeed a little later. */
  public boolean isRetryable() {
    return retryable;
  }
}
