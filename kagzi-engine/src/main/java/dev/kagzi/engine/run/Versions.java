package dev.kagzi.engine.run;

/** Resolves the version of runs that are started without one. Thread-safe; does not block. */
@FunctionalInterface
public interface Versions {
  Versions NONE = (namespace, type, version) -> version;

  /** Returns {@code version}, or the type's default version if it is empty. */
  String resolve(String namespace, String type, String version);
}
