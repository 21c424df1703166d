package dev.kagzi.engine.config;

public enum NotifierKind {
  /** PostgreSQL's LISTEN and NOTIFY: reaches every server on the database. */
  POSTGRES,
  /** Memory: reaches servers of this process only, and needs no connections. */
  IN_PROCESS
}
