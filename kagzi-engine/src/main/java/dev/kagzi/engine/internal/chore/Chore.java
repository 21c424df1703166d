package dev.kagzi.engine.internal.chore;

public interface Chore {
  /** Does the work that is due; may block. After an exception it is called at the next interval. */
  void run();
}
