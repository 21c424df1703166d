package dev.kagzi.sdk;

/**
 * An {@link IllegalArgumentException} with an error code, for invalid names, duplicate
 * registrations, duplicate or missing branches, too many or too large published values, and
 * unreadable history files. Other invalid arguments throw a plain {@code IllegalArgumentException}.
 */
public final class InvalidArgumentException extends IllegalArgumentException {
  private final String code;

  /** Called by the SDK. */
  public InvalidArgumentException(String code, String message) {
    super(message);
    this.code = code;
  }

  /**
   * Returns the error code, which does not change between releases: {@code INVALID_NAME}, {@code
   * DUPLICATE_TYPE}, {@code DUPLICATE_BRANCH}, {@code NO_BRANCH}, {@code TOO_MUCH_PUBLISHED} or
   * {@code HISTORY_UNREADABLE}.
   */
  public String code() {
    return code;
  }
}
