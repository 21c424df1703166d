package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/** Root of everything the SDK throws at its caller, apart from wrong arguments. */
public abstract sealed class KagziException extends RuntimeException
    permits ContextMisuseException,
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
}
