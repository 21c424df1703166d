package dev.kagzi.cli;

import org.jspecify.annotations.Nullable;

/** An expected failure: only its message is shown, without a stack trace. */
final class CliException extends RuntimeException {
  private final int exitCode;

  CliException(String message) {
    this(ExitCode.FAILED, message, null);
  }

  CliException(String message, Throwable cause) {
    this(ExitCode.FAILED, message, cause);
  }

  CliException(int exitCode, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  int exitCode() {
    return exitCode;
  }
}
