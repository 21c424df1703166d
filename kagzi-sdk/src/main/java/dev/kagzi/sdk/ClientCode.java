package dev.kagzi.sdk;

/**
 * Stable error codes of the client, listed in {@code docs/errors.md}. Where the server has a code
 * for the same error, the name is the same. Codes that only a server produces are passed on as
 * strings.
 */
enum ClientCode {
  BRANCH_FAILED,
  CALLBACK_FAILED,
  CHILD_FAILED,
  COMPENSATION_FAILED,
  CONTEXT_AFTER_END,
  CONTEXT_FOREIGN_THREAD,
  CONTEXT_INSIDE_STEP,
  CONTEXT_OPEN_WORK,
  CONTEXT_OTHER_BRANCH,
  CONTEXT_OTHER_RUN,
  DUPLICATE_BRANCH,
  DUPLICATE_TYPE,
  HISTORY_UNREADABLE,
  ID_IN_USE,
  INVALID_NAME,
  NO_BRANCH,
  NOT_FOUND,
  PAYLOAD_UNREADABLE,
  PAYLOAD_UNWRITABLE,
  REPLAY_DIFFERS,
  RESULT_TIMEOUT,
  RUN_CANCELLED,
  RUN_FAILED,
  RUN_TIMED_OUT,
  STEP_FAILED,
  TOO_MUCH_PUBLISHED,
  UNAVAILABLE,
  WAIT_INTERRUPTED
}
