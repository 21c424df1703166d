package dev.kagzi.sdk.internal.jdbc;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Sends messages of an outbox to the server, and interprets its answers.
 *
 * @param send sends a message; the future completes when the server has answered
 * @param isUnavailable whether no server answered
 * @param isRunMissing whether the server knows no run with the id of the message
 * @param isFinal whether sending the message again would fail in the same way
 */
public record OutboxSender(
    Function<OutboxRow, CompletableFuture<?>> send,
    Predicate<Throwable> isUnavailable,
    Predicate<Throwable> isRunMissing,
    Predicate<Throwable> isFinal) {}
