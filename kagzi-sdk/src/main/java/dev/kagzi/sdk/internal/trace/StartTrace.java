package dev.kagzi.sdk.internal.trace;

import dev.kagzi.protocol.v1.StartWorkflowResponse;
import org.jspecify.annotations.Nullable;

/** The trace of one start by a client. Thread-safe. */
@FunctionalInterface
public interface StartTrace {
  /** The start was answered or has failed; called once, with one of the two. */
  void end(@Nullable StartWorkflowResponse answer, @Nullable Throwable thrown);
}
