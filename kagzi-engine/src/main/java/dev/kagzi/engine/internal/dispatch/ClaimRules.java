package dev.kagzi.engine.internal.dispatch;

import dev.kagzi.engine.config.TransitionRules;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.engine.retry.CrashPolicy;

/**
 * The timeouts and the crash policy of claimed runs.
 *
 * @param leaseMsMax the longest lease without a heartbeat, unless the run has its own
 * @param crashes what happens to runs whose workers die
 * @param stepTimeoutMs the timeout of a step attempt, unless the run has its own
 */
public record ClaimRules(long leaseMsMax, CrashPolicy crashes, long stepTimeoutMs) {
  public static ClaimRules of(WorkerConfig workers, TransitionRules rules) {
    return new ClaimRules(workers.lease().toMillis(), rules.crashes(), rules.stepTimeoutMs());
  }
}
