package dev.kagzi.engine.value;

public record QueueName(String namespace, String queue) {}
