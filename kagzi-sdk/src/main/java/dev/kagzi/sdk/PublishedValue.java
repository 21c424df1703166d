package dev.kagzi.sdk;

import java.time.Instant;

/**
 * The last value that a run has published under a name: {@link RunHandle#published()}.
 *
 * @param name the first argument of {@link WorkflowContext#publish}
 * @param value the encoded value; {@link RunHandle#published(String, Class)} decodes it
 * @param publishedAt when it was stored, by the database's clock
 */
public record PublishedValue(String name, Encoded value, Instant publishedAt) {}
