package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.ErrorDetail;
import org.jspecify.annotations.Nullable;

/** Why a run's code has to stop before its own end. */
sealed interface StopReason {
  /** The server has taken the run back until its sleep or retry delay is over. */
  record Parked() implements StopReason {}

  /** The run belongs to somebody else, or has ended, for example by a cancel. */
  record Lost() implements StopReason {}

  /** The run's deadline has passed: the server ends it, and nothing more is written here. */
  record Overdue() implements StopReason {}

  /** The worker is closing and has given the run back. */
  record Released() implements StopReason {}

  /**
   * A step ran into its time-out and ignores its interrupt: others report that and give the run
   * back.
   */
  record CutOff() implements StopReason {}

  /**
   * The code in this process cannot go on with what is recorded; other code may.
   *
   * @param cause the exception that showed it, for the log; null if there was none
   */
  record Blocked(ErrorDetail why, @Nullable Throwable cause) implements StopReason {}

  /** What the code was given is not what is recorded: it starts over from the record. */
  record StartOver() implements StopReason {}

  /** The run fails by a report of its own that the server refused. */
  record Refused(ErrorDetail why) implements StopReason {}
}
