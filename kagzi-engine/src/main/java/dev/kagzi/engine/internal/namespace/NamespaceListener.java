package dev.kagzi.engine.internal.namespace;

import dev.kagzi.engine.namespace.Namespaces;

@FunctionalInterface
public interface NamespaceListener {
  /** Must not block, and must not call {@link Namespaces}, because the cache's lock is held. */
  void changed(String namespace, boolean enabled);
}
