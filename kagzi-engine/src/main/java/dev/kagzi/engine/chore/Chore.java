package dev.kagzi.engine.chore;

/** One periodic duty. */
public interface Chore {
  /** Does what is due. May block on the database; may fail, and is then tried again. */
  void run();
}
