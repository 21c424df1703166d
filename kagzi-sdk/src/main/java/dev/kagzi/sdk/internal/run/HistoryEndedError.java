package dev.kagzi.sdk.internal.run;

/** Unwinds code that is executed only as far as it is recorded, where its history ends. */
final class HistoryEndedError extends SuspendedError {}
