package dev.kagzi.engine.message;

import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import org.jspecify.annotations.Nullable;

/**
 * Something that a run has to know: one of its steps, which another run carries out, has ended; or
 * its parent was ended, and it shall end too.
 *
 * @param stepKey the step; empty in what a parent says
 * @param from the run that carried out the step; null if that is not known
 * @param output what it gave
 * @param failure why it gave nothing, or why the parent was ended
 */
public record RunMessage(
    RunId to,
    String stepKey,
    What what,
    @Nullable RunId from,
    @Nullable Payload output,
    @Nullable Failure failure) {

  /** What is said. */
  public enum What {
    COMPLETED,
    FAILED,
    CANCEL,
    TERMINATE
  }

  public static RunMessage completed(
      RunId to, String stepKey, RunId from, @Nullable Payload output) {
    return new RunMessage(to, stepKey, What.COMPLETED, from, output, null);
  }

  public static RunMessage failed(RunId to, String stepKey, RunId from, Failure why) {
    return new RunMessage(to, stepKey, What.FAILED, from, null, why);
  }

  /** Whether a parent says it. */
  public boolean isFromAbove() {
    return what == What.CANCEL || what == What.TERMINATE;
  }

  /**
   * As it is stored: it keeps a message that is sent twice from being two, and the messages of two
   * runs that carried out one step from being one.
   */
  String stored() {
    return from == null ? what.name() : what.name() + " " + from;
  }
}
