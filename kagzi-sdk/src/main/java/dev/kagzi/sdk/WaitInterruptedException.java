package dev.kagzi.sdk;

/**
 * Thrown when a thread is interrupted while it waits for a start or a result; its interrupt flag is
 * set again. The operation that it waited for continues.
 */
public final class WaitInterruptedException extends KagziException {
  public WaitInterruptedException() {
    super(ClientCode.WAIT_INTERRUPTED, "interrupted while waiting for the server", null);
  }
}
