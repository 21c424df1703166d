package dev.kagzi.engine.value;

/**
 * The schema of the database does not have the version of this server. The message is one line for
 * an operator.
 */
public final class SchemaException extends RuntimeException {
  public SchemaException(String message) {
    super(message);
  }
}
