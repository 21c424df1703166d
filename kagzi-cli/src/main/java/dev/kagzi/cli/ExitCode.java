package dev.kagzi.cli;

/** What a command that talks to a server ends with; docs/reference.md lists them. */
final class ExitCode {

  static final int DONE = 0;

  /** Refused by the server, or failed. */
  static final int FAILED = 1;

  static final int USAGE = 2;
  static final int NOT_FOUND = 3;
  static final int UNREACHABLE = 4;

  /** A result was asked for, and the run has none. */
  static final int NOT_COMPLETED = 5;

  private ExitCode() {}
}
