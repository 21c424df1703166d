package dev.kagzi.cli;

/** A failure whose message alone is worth showing. */
final class CliException extends RuntimeException {

  CliException(String message) {
    super(message);
  }

  CliException(String message, Throwable cause) {
    super(message, cause);
  }
}
