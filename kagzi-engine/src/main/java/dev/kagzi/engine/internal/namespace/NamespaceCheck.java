package dev.kagzi.engine.internal.namespace;

/** Whether a namespace is enabled. A missing namespace is refused instead. */
public enum NamespaceCheck {
  ENABLED,
  /** Its runs can be read; no run starts and no task is dispatched. */
  DISABLED;

  static NamespaceCheck of(boolean enabled) {
    return enabled ? ENABLED : DISABLED;
  }

  public boolean isEnabled() {
    return this == ENABLED;
  }
}
