package dev.kagzi.sdk.internal.run;

/** Unwinds code that is executed only as far as it is recorded, at the end of its history. */
final class HistoryEndedError extends SuspendedError {}
