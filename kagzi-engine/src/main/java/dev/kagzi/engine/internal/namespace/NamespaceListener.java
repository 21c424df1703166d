package dev.kagzi.engine.internal.namespace;

import dev.kagzi.engine.namespace.Namespaces;

/** Called when a cached namespace was enabled or disabled. */
@FunctionalInterface
public interface NamespaceListener {
  /** Must not block, and must not call {@link Namespaces}. */
  void changed(String namespace, boolean enabled);
}
