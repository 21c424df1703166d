package dev.kagzi.engine.thread;

import org.jspecify.annotations.Nullable;

/** An essential thread has ended. The cause is what it threw; none if it just returned. */
public final class ThreadFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  ThreadFailure(String thread, @Nullable Throwable cause) {
    super("thread " + thread + " ended" + (cause == null ? "" : ": " + cause), cause);
  }
}
