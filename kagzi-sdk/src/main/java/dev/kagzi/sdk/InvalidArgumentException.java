package dev.kagzi.sdk;

/** An argument that can never be right, found before anything is sent. */
public final class InvalidArgumentException extends IllegalArgumentException {
  private final String code;

  /**
   * Made by the SDK.
   *
   * @param code {@link #code}
   */
  public InvalidArgumentException(String code, String message) {
    super(message);
    this.code = code;
  }

  /**
   * What is wrong, as a word that stays the same whatever the message says: {@code INVALID_NAME},
   * {@code DUPLICATE_TYPE}, {@code DUPLICATE_BRANCH}, {@code NO_BRANCH}, {@code
   * HISTORY_UNREADABLE}.
   */
  public String code() {
    return code;
  }
}
