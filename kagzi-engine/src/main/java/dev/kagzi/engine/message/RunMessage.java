package dev.kagzi.engine.message;

import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import org.jspecify.annotations.Nullable;

/**
 * Something that a run has to know: one of its steps, which another run carries out, has ended.
 *
 * @param output what it gave
 * @param failure why it gave nothing; null when it did
 */
public record RunMessage(
    RunId to, String stepKey, @Nullable Payload output, @Nullable Failure failure) {

  /** The kind as it is stored: it keeps a message that is sent twice from being two. */
  String what() {
    return failure == null ? "COMPLETED" : "FAILED";
  }
}
