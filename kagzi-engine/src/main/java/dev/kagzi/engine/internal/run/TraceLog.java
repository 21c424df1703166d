package dev.kagzi.engine.internal.run;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.spi.LoggingEventBuilder;

/** Adds the trace of a run to a log line about it, if the headers of its start name one. */
public final class TraceLog {
  static final String KEY = "trace_id";

  private static final String HEADER = "traceparent";
  private static final Pattern TRACEPARENT =
      Pattern.compile("[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(-.*)?");

  private TraceLog() {}

  public static LoggingEventBuilder add(LoggingEventBuilder event, Map<String, String> headers) {
    String id = traceId(headers);
    return id == null ? event : event.addKeyValue(KEY, id);
  }

  /** Returns null if there is no trace context, or it is not one of W3C. */
  static @Nullable String traceId(Map<String, String> headers) {
    String context = headers.get(HEADER);
    Matcher matcher = TRACEPARENT.matcher(context == null ? "" : context);
    return matcher.matches() ? matcher.group(1) : null;
  }
}
