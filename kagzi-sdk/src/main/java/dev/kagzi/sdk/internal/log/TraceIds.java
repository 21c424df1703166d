package dev.kagzi.sdk.internal.log;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Puts the ids of a span into the MDC of the calling thread, so that log lines of the application
 * have them. {@link #close} restores the ids that were there before; call it in the same thread.
 */
public final class TraceIds implements AutoCloseable {
  private static final String TRACE_ID = "trace_id";
  private static final String SPAN_ID = "span_id";

  private final @Nullable String formerTraceId = MDC.get(TRACE_ID);
  private final @Nullable String formerSpanId = MDC.get(SPAN_ID);

  public TraceIds(String traceId, String spanId) {
    MDC.put(TRACE_ID, traceId);
    MDC.put(SPAN_ID, spanId);
  }

  @Override
  public void close() {
    restore(TRACE_ID, formerTraceId);
    restore(SPAN_ID, formerSpanId);
  }

  private static void restore(String key, @Nullable String value) {
    if (value == null) {
      MDC.remove(key);
    } else {
      MDC.put(key, value);
    }
  }
}
