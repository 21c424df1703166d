package dev.kagzi.engine.namespace;

/** Hears of namespaces that this server knew as enabled and are no longer, and the other way. */
@FunctionalInterface
public interface NamespaceListener {
  /** Must not block, and must not ask about namespaces. */
  void changed(String namespace, boolean enabled);
}
