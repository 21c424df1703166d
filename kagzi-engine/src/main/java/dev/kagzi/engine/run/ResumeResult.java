package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunStatus;

/**
 * The result of a resume call.
 *
 * @param resumed false if the run had not failed
 * @param status the run's current status
 */
public record ResumeResult(boolean resumed, RunStatus status) {}
