package dev.kagzi.engine.internal.chore;

public interface Chore {
  /**
   * Does the work that is due. May block on the database. The coordinator logs an exception and
   * calls it again at the next interval.
   */
  void run();
}
