package dev.kagzi.sdk;

/**
 * What goes wrong in a client, by names that stay. Where the server has a name for the same, it is
 * that one. What only a server can find has its codes there, and they travel as texts.
 */
enum ClientCode {
  CONTEXT_MISUSE,
  ID_IN_USE,
  NOT_FOUND,
  PAYLOAD_UNREADABLE,
  RESULT_TIMEOUT,
  RUN_CANCELLED,
  RUN_FAILED,
  RUN_TIMED_OUT,
  STEP_FAILED,
  UNAVAILABLE,
  WAIT_INTERRUPTED
}
