package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import org.jspecify.annotations.Nullable;

/** Why an execution stops before its code has ended. */
sealed interface StopReason {
  /** The server has released the run until its sleep, retry delay, child or receive is over. */
  record Parked() implements StopReason {}

  /** The run has continued as new. */
  record Continued() implements StopReason {}

  /** The run was released, claimed again, or has ended, for example by a cancel. */
  record Lost() implements StopReason {}

  /** The run's deadline has passed: the server ends it, and nothing more is reported here. */
  record Overdue() implements StopReason {}

  /** The worker is closing and has released the run. */
  record Released() implements StopReason {}

  /** A step timed out and ignores its interrupt; another thread reports that. */
  record CutOff() implements StopReason {}

  /**
   * The code in this process cannot continue with the recorded history; other code may.
   *
   * @param cause the exception that caused it, for the log; null if there was none
   */
  record Blocked(ErrorDetail why, @Nullable Throwable cause) implements StopReason {}

  /** The code may have a value that is not the recorded one, so it starts over from the history. */
  record StartOver() implements StopReason {}

  /** The server refused a report of the run, so the run fails with that error. */
  record Refused(ErrorDetail why) implements StopReason {}

  /**
   * Returns the name of a stop reason in a trace. Null means that the last report found the claim
   * lost.
   */
  static String nameOf(@Nullable StopReason reason) {
    return switch (reason) {
      case Parked parked -> "suspended";
      case Continued continued -> "continued";
      case Overdue overdue -> "timed_out";
      case Released released -> "released";
      case CutOff cutOff -> "cut_off";
      case Blocked blocked -> "blocked";
      case StartOver startOver -> "started_over";
      case Refused refused -> "refused";
      case Lost lost -> "lost";
      case null -> "lost";
    };
  }
}
