package dev.kagzi.sdk;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a thread is interrupted while it waits for a start or a result; its interrupt flag is
 * set again. Also thrown when the gRPC context of the waiting thread is cancelled, or its deadline
 * passes. The operation that it waited for continues.
 */
public final class WaitInterruptedException extends KagziException {
  public WaitInterruptedException() {
    super(ClientCode.WAIT_INTERRUPTED, "interrupted while waiting for the server", null);
  }

  /** Creates the exception of a wait that ended with the caller's gRPC context. */
  public WaitInterruptedException(@Nullable Throwable cause) {
    super(ClientCode.WAIT_INTERRUPTED, "the gRPC context of the waiting thread has ended", cause);
  }
}
