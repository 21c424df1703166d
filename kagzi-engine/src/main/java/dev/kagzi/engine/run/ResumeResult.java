package dev.kagzi.engine.run;

import dev.kagzi.engine.value.RunStatus;

/**
 * The result of a resume call.
 *
 * @param resumed true if this call, or an earlier one for the same attempt, resumed the run
 */
public record ResumeResult(boolean resumed, RunStatus status) {}
