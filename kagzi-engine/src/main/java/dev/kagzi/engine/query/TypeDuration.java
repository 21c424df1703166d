package dev.kagzi.engine.query;

/** How long runs of a type took from their creation to their end. */
public record TypeDuration(String type, long endedRuns, long averageMs, long p95Ms) {}
