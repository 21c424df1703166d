package dev.kagzi.sdk;

/**
 * The waiting thread was interrupted; its interrupt flag is set again. What it waited for goes on.
 */
public final class WaitInterruptedException extends KagziException {
  public WaitInterruptedException() {
    super("interrupted while waiting for the server", null);
  }

  @Override
  public String code() {
    return "wait-interrupted";
  }
}
