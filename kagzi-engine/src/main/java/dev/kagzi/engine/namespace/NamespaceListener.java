package dev.kagzi.engine.namespace;

/** Called when a cached namespace was enabled or disabled. */
@FunctionalInterface
public interface NamespaceListener {
  /** Must not block, and must not call {@link Namespaces}. */
  void changed(String namespace, boolean enabled);
}
