package dev.kagzi.sdk;

/** The code of a step that returns nothing. */
@FunctionalInterface
public interface StepAction {
  /** Executes one attempt of the step. An exception fails the attempt. */
  void run() throws Exception;
}
