package dev.kagzi.engine.namespace;

import org.jspecify.annotations.Nullable;

/**
 * The changes of a namespace; null leaves a value unchanged.
 *
 * @param retentionMs how long runs are kept after their end; 0: forever
 * @param clearRetention uses the server's default retention and ignores retentionMs
 */
public record NamespaceUpdate(
    @Nullable String displayName,
    @Nullable String description,
    boolean clearFailureHandler,
    @Nullable Long retentionMs,
    boolean clearRetention) {}
