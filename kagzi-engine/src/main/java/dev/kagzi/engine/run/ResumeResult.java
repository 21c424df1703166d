package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunStatus;

/**
 * What became of a wish to resume.
 *
 * @param resumed false when the run had not failed
 * @param status the run's status now
 */
public record ResumeResult(boolean resumed, RunStatus status) {}
