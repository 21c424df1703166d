package dev.kagzi.engine.internal.namespace;

/** Whether a namespace is enabled. There is no constant for a missing one, which is refused. */
public enum NamespaceCheck {
  ENABLED,
  /** Clients and schedules cannot start runs, and no task is dispatched. */
  DISABLED;

  static NamespaceCheck of(boolean enabled) {
    return enabled ? ENABLED : DISABLED;
  }

  public boolean isEnabled() {
    return this == ENABLED;
  }
}
