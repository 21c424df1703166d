package dev.kagzi.sdk.internal.log;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Two values in the MDC of the calling thread. {@link #close} restores those that were there
 * before, which may be the application's own; call it in the same thread.
 */
public final class MdcScope implements AutoCloseable {
  private final String key;
  private final String otherKey;
  private final @Nullable String former;
  private final @Nullable String otherFormer;

  MdcScope(String key, String value, String otherKey, String otherValue) {
    this.key = key;
    this.otherKey = otherKey;
    this.former = MDC.get(key);
    this.otherFormer = MDC.get(otherKey);
    MDC.put(key, value);
    MDC.put(otherKey, otherValue);
  }

  @Override
  public void close() {
    restore(key, former);
    restore(otherKey, otherFormer);
  }

  private static void restore(String key, @Nullable String former) {
    if (former == null) {
      MDC.remove(key);
    } else {
      MDC.put(key, former);
    }
  }
}
