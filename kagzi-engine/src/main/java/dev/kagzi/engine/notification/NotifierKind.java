package dev.kagzi.engine.notification;

/** Which way notices go between servers. */
public enum NotifierKind {
  /** LISTEN and NOTIFY: to every server on the database. */
  POSTGRES,
  /** Memory: to servers in this process alone, without connections of its own. */
  IN_PROCESS
}
