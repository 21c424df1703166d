package dev.kagzi.engine.namespace;

/** Whether a namespace works. One that is not there at all is refused instead. */
public enum NamespaceCheck {
  ENABLED,
  /** Its runs can be looked at; none starts, and no work is handed out. */
  DISABLED;

  static NamespaceCheck of(boolean enabled) {
    return enabled ? ENABLED : DISABLED;
  }

  public boolean isEnabled() {
    return this == ENABLED;
  }
}
