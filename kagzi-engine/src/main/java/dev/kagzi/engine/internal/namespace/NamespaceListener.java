package dev.kagzi.engine.internal.namespace;

import dev.kagzi.engine.namespace.Namespaces;

@FunctionalInterface
public interface NamespaceListener {
  /** Must not block, and must not call {@link Namespaces}. */
  void changed(String namespace, boolean enabled);
}
