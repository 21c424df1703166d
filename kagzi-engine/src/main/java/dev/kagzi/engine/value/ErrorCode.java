package dev.kagzi.engine.value;

/** The error codes of the protocol, in the order of their protocol numbers. */
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
