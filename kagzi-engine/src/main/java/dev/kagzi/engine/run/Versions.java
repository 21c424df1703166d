package dev.kagzi.engine.run;

/** Which version a run has that is started without one. Thread-safe; never waits. */
@FunctionalInterface
public interface Versions {
  /** No type has a default. */
  Versions NONE = (namespace, type, version) -> version;

  /** The version asked for; without one, the type's default. */
  String resolve(String namespace, String type, String version);
}
