package dev.kagzi.engine.value;

/** A task queue within its namespace. */
public record QueueName(String namespace, String queue) {}
