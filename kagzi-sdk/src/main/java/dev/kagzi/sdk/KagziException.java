package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/** Root of everything the SDK throws at its caller, apart from wrong arguments. */
public abstract sealed class KagziException extends RuntimeException
    permits BranchFailedException,
        ChildFailedException,
        ContextMisuseException,
        PayloadException,
        RequestRefusedException,
        ResultTimeoutException,
        RunCancelledException,
        RunExistsException,
        RunFailedException,
        RunNotFoundException,
        ServerUnavailableException,
        StepFailedException,
        WaitInterruptedException {
  KagziException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** What has happened, as a word that stays the same whatever the message says. */
  public abstract String code();
}
