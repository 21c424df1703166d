package dev.kagzi.engine.value;

/** The schema does not have this server's version. The message is one line for an operator. */
public final class SchemaException extends RuntimeException {
  public SchemaException(String message) {
    super(message);
  }
}
