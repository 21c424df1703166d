package dev.kagzi.engine.db;

/** The database's schema is not the one that this server knows. One line for a person. */
public final class SchemaException extends RuntimeException {
  SchemaException(String message) {
    super(message);
  }
}
