package dev.kagzi.sdk.internal.run;

/** Why the worker's code cannot continue a run. The names are stable; docs/errors.md lists them. */
enum BlockReason {
  BRANCHES_CHANGED,
  CODE_NONDETERMINISTIC,
  INPUT_UNREADABLE,
  RECORD_UNREADABLE,
  RESULT_UNREADABLE,
  STEP_INPUT_CHANGED,
  STEP_KIND_CHANGED,
  TRANSACTION_UNRESOLVED,
  TYPE_UNKNOWN
}
