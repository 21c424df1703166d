package dev.kagzi.sdk;

/** Thrown when an argument is invalid; nothing was sent to the server. */
public final class InvalidArgumentException extends IllegalArgumentException {
  private final String code;

  /** Called by the SDK. */
  public InvalidArgumentException(String code, String message) {
    super(message);
    this.code = code;
  }

  /**
   * Returns the error code, which does not change between releases: {@code INVALID_NAME}, {@code
   * DUPLICATE_TYPE}, {@code DUPLICATE_BRANCH}, {@code NO_BRANCH} or {@code HISTORY_UNREADABLE}.
   */
  public String code() {
    return code;
  }
}
