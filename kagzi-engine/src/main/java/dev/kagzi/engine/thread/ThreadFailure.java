package dev.kagzi.engine.thread;

import org.jspecify.annotations.Nullable;

/** An essential thread has ended. The cause is what it threw; null if it returned. */
public final class ThreadFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  ThreadFailure(String thread, @Nullable Throwable cause) {
    super("thread " + thread + " ended" + (cause == null ? "" : ": " + cause), cause);
  }
}
