package dev.kagzi.sdk.jdbc;

import java.time.Instant;

/**
 * A row of the outbox that the server has refused. It stays in the table, and later rows with the
 * same key wait.
 *
 * @param id the row's id: {@link OutboxTable#retry}, {@link OutboxTable#discard}
 * @param key the id of the start, or the run id
 * @param runId the run that the row starts or signals
 * @param reason why the server refused it
 */
public record RefusedMessage(
    long id, String namespace, String key, String runId, Instant refusedAt, String reason) {}
