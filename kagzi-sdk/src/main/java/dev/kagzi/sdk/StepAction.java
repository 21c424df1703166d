package dev.kagzi.sdk;

/** The code of a step that returns nothing. */
@FunctionalInterface
public interface StepAction {
  /** Does the step; what it throws is a failed attempt. */
  void run() throws Exception;
}
