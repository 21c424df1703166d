package dev.kagzi.engine.diagnosis;

/** The checks of a diagnosis. The names are stable; {@code docs/tools.md} explains each. */
public enum Check {
  POSTGRES_VERSION,
  SCHEMA,
  INDEXES,
  EXTRA_INDEXES,
  FSYNC,
  FULL_PAGE_WRITES,
  SYNCHRONOUS_COMMIT,
  AUTOVACUUM,
  DEAD_ROWS,
  CONNECTIONS,
  OPEN_TRANSACTIONS,
  LONG_STATEMENTS,
  PREPARED_TRANSACTIONS,
  REPLICATION_SLOTS,
  TRANSACTION_IDS,
  CLOCK,
  DISK,
  SERVERS,
  DUE_RUNS,
  BLOCKED_RUNS,
  CRASHING_RUNS,
  MESSAGES,
  SCHEDULES
}
