package dev.kagzi.engine.notification;

/** A server is alive on the database that the chosen notifier does not reach. */
public final class UnreachableServerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UnreachableServerException(String message) {
    super(message);
  }
}
