package dev.kagzi.engine.internal.message;

import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import org.jspecify.annotations.Nullable;

/**
 * A message to a run (the receiver). Either a child of the receiver has ended, or the receiver's
 * parent was cancelled or terminated.
 *
 * @param stepKey the receiver's step that started the child; empty in messages from a parent
 * @param from the child; null in messages from a parent
 * @param failure why the child failed, or why the parent was terminated
 */
public record RunMessage(
    RunId to,
    String stepKey,
    Type type,
    @Nullable RunId from,
    @Nullable Payload output,
    @Nullable Failure failure) {

  public enum Type {
    COMPLETED,
    FAILED,
    CANCEL,
    TERMINATE
  }

  public static RunMessage completed(
      RunId to, String stepKey, RunId from, @Nullable Payload output) {
    return new RunMessage(to, stepKey, Type.COMPLETED, from, output, null);
  }

  public static RunMessage failed(RunId to, String stepKey, RunId from, Failure why) {
    return new RunMessage(to, stepKey, Type.FAILED, from, null, why);
  }

  /** A parent ends its child: terminates it if there is a failure, else cancels it. */
  public static RunMessage fromParent(RunId to, @Nullable Failure why) {
    return new RunMessage(to, "", why == null ? Type.CANCEL : Type.TERMINATE, null, null, why);
  }

  /** The same message to another run. */
  public RunMessage to(RunId other) {
    return new RunMessage(other, stepKey, type, from, output, failure);
  }

  public boolean isFromParent() {
    return type == Type.CANCEL || type == Type.TERMINATE;
  }

  /**
   * The type and the sender, as stored. Because this is part of the primary key, a repeated message
   * is stored once, and messages of two children of the same step are two rows.
   */
  String storedType() {
    return from == null ? type.name() : type.name() + " " + from;
  }
}
