package dev.kagzi.examples.shop;

/** What a customer orders. */
public record Order(String id, String item, int cents) {}
