package dev.kagzi.engine.value;

/** The classes of errors that the protocol knows; the numbers are the protocol's. */
public enum ErrorCode {
  UNSPECIFIED,
  NOT_FOUND,
  INVALID_ARGUMENT,
  PRECONDITION_FAILED,
  CONFLICT,
  UNAUTHORIZED,
  UNAVAILABLE,
  INTERNAL,
  TIMEOUT
}
