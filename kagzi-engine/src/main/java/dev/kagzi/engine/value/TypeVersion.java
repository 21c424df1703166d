package dev.kagzi.engine.value;

/** A workflow type in one of its versions; the empty version is a version like any other. */
public record TypeVersion(String type, String version) {}
