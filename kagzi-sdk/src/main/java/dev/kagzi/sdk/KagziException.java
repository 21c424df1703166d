package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/** Root of everything the SDK throws at its caller, apart from wrong arguments. */
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
   * What happened, by a name that stays; {@code docs/errors.md} lists all of them and says what to
   * do. A server that is newer than this SDK may name one that it does not know.
   */
  public final String code() {
    return code;
  }
}
