package dev.kagzi.engine.notice;

/** A server is alive on the database that the chosen notifier does not reach. */
public final class UnreachedServerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UnreachedServerException(String message) {
    super(message);
  }
}
