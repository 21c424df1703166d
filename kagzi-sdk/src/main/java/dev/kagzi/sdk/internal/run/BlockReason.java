package dev.kagzi.sdk.internal.run;

/** Why a run cannot go on with the code that it has met, by names that stay: docs/errors.md. */
enum BlockReason {
  BRANCHES_CHANGED,
  CODE_NONDETERMINISTIC,
  INPUT_UNREADABLE,
  RECORD_UNREADABLE,
  RESULT_UNREADABLE,
  STEP_INPUT_CHANGED,
  STEP_KIND_CHANGED,
  TYPE_UNKNOWN
}
