package dev.kagzi.engine.namespace;

import org.jspecify.annotations.Nullable;

/**
 * What to change of a namespace; null leaves a thing as it is.
 *
 * @param clearFailureHandler forgets that a handler of all failures was registered
 * @param retentionMs how long runs are kept after their end; 0: for ever
 * @param clearRetention from now on as long as the server says, whatever retentionMs is
 */
public record NamespaceUpdate(
    @Nullable String displayName,
    @Nullable String description,
    boolean clearFailureHandler,
    @Nullable Long retentionMs,
    boolean clearRetention) {

  /** Changes nothing yet. */
  public static final NamespaceUpdate NONE = new NamespaceUpdate(null, null, false, null, false);

  public NamespaceUpdate withDisplayName(String name) {
    return new NamespaceUpdate(name, description, clearFailureHandler, retentionMs, clearRetention);
  }

  public NamespaceUpdate withDescription(String text) {
    return new NamespaceUpdate(displayName, text, clearFailureHandler, retentionMs, clearRetention);
  }

  /** Forgets that a handler of all failures was registered. */
  public NamespaceUpdate withoutFailureHandler() {
    return new NamespaceUpdate(displayName, description, true, retentionMs, clearRetention);
  }

  public NamespaceUpdate withRetentionMs(long millis) {
    return new NamespaceUpdate(displayName, description, clearFailureHandler, millis, false);
  }

  /** As long as the server says. */
  public NamespaceUpdate withoutRetention() {
    return new NamespaceUpdate(displayName, description, clearFailureHandler, null, true);
  }
}
