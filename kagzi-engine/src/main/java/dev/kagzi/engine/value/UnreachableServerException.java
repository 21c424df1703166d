package dev.kagzi.engine.value;

/** The configured notifier does not reach another server that uses the same database. */
public final class UnreachableServerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UnreachableServerException(String message) {
    super(message);
  }
}
