package dev.kagzi.examples.shop;

/** The decision of a person about a large order. */
public record Approval(String by, boolean approved) {}
