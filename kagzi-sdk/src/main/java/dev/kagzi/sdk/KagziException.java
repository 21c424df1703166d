package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/**
 * Superclass of the exceptions that report a failed operation, or the wrong use of a {@link
 * WorkflowContext} ({@link ContextMisuseException}). Other wrong use of the API throws {@link
 * IllegalArgumentException} or {@link IllegalStateException} instead.
 */
public abstract sealed class KagziException extends RuntimeException
    permits ContextMisuseException,
        PayloadException,
        ReplayDiffersException,
        RequestRefusedException,
        ResultTimeoutException,
        RunCancelledException,
        RunExistsException,
        RunFailedException,
        RunNotFoundException,
        ServerUnavailableException,
        WaitInterruptedException,
        WorkFailedException {
  private final String code;

  KagziException(String code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  KagziException(ClientCode code, String message, @Nullable Throwable cause) {
    this(code.name(), message, cause);
  }

  /**
   * Returns the error code, which does not change between releases; {@code docs/errors.md} lists
   * all codes. A newer server may return a code that is not listed there.
   */
  public final String code() {
    return code;
  }
}
