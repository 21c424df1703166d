package dev.kagzi.sdk.internal.log;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Values in the MDC of the calling thread. {@link #close} restores those that were there before,
 * which may be the application's own; call it in the same thread.
 */
public final class MdcScope implements AutoCloseable {
  private final Map<String, @Nullable String> former = new HashMap<>();

  MdcScope(Map<String, String> values) {
    values.forEach(
        (key, value) -> {
          former.put(key, MDC.get(key));
          MDC.put(key, value);
        });
  }

  @Override
  public void close() {
    former.forEach(
        (key, value) -> {
          if (value == null) {
            MDC.remove(key);
          } else {
            MDC.put(key, value);
          }
        });
  }
}
