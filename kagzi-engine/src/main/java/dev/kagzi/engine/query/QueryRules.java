package dev.kagzi.engine.query;

import dev.kagzi.engine.retry.RetryPolicy;

/**
 * Settings of the engine that queries need to interpret rows.
 *
 * @param leaseMs maximum length of a lease, unless its run sets another
 * @param firstLeaseMs length of the lease with which a run is handed out; a heartbeat that lists
 *     the run extends it
 * @param crashesMax how many crashes in a row a run may have before it fails
 * @param retries retry policy of steps when neither the step nor the run has one
 */
public record QueryRules(
    Health.Rules health, long leaseMs, long firstLeaseMs, int crashesMax, RetryPolicy retries) {}
