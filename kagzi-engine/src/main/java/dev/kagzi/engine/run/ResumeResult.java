package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunStatus;

/**
 * The result of a resume call.
 *
 * @param resumed false if the run had not failed
 */
public record ResumeResult(boolean resumed, RunStatus status) {}
