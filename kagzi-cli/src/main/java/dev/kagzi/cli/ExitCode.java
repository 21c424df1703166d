package dev.kagzi.cli;

/**
 * Exit codes of commands that call a server; docs/reference.md lists them. A signal ends a command
 * with the exit code of the signal: 130 after Ctrl-C, 143 after SIGTERM.
 */
final class ExitCode {

  static final int DONE = 0;

  /** The call was refused or failed, or the command had no effect. */
  static final int FAILED = 1;

  static final int USAGE = 2;
  static final int NOT_FOUND = 3;
  static final int UNREACHABLE = 4;

  /** The run whose result was requested did not complete. */
  static final int NOT_COMPLETED = 5;

  /** {@code doctor} has warnings, and no failure. */
  static final int WARNINGS = 6;

  /** {@code doctor} has failures. */
  static final int FAILURES = 7;

  /** A command that acts on several runs failed for some of them. */
  static final int PARTIAL = 8;

  private ExitCode() {}
}
