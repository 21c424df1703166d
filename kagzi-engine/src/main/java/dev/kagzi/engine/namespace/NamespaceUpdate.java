package dev.kagzi.engine.namespace;

import org.jspecify.annotations.Nullable;

/**
 * The changes of a namespace; null leaves a value unchanged.
 *
 * @param clearFailureHandler removes the failure handler of the namespace
 * @param retentionMs how long runs are kept after their end; 0: forever
 * @param clearRetention uses the server's default retention and ignores retentionMs
 */
public record NamespaceUpdate(
    @Nullable String displayName,
    @Nullable String description,
    boolean clearFailureHandler,
    @Nullable Long retentionMs,
    boolean clearRetention) {

  /** An update without changes; add changes with the {@code with} methods. */
  public static final NamespaceUpdate NONE = new NamespaceUpdate(null, null, false, null, false);

  public NamespaceUpdate withDisplayName(String name) {
    return new NamespaceUpdate(name, description, clearFailureHandler, retentionMs, clearRetention);
  }

  public NamespaceUpdate withDescription(String text) {
    return new NamespaceUpdate(displayName, text, clearFailureHandler, retentionMs, clearRetention);
  }

  /** Removes the failure handler of the namespace. */
  public NamespaceUpdate withoutFailureHandler() {
    return new NamespaceUpdate(displayName, description, true, retentionMs, clearRetention);
  }

  public NamespaceUpdate withRetentionMs(long millis) {
    return new NamespaceUpdate(displayName, description, clearFailureHandler, millis, false);
  }

  /** Uses the server's default retention. */
  public NamespaceUpdate withoutRetention() {
    return new NamespaceUpdate(displayName, description, clearFailureHandler, null, true);
  }
}
