package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/** Warns about payloads above the warning size, once an hour per type. Thread-safe. */
public final class LargePayloads {
  private static final Logger log = LoggerFactory.getLogger(LargePayloads.class);
  private static final long INTERVAL_NANOS = TimeUnit.HOURS.toNanos(1);
  // Type names come from clients, so the map must be bounded.
  private static final int TYPES_MAX = 1_000;

  private final Limits limits;
  private final Map<String, Long> warnedNanos = new ConcurrentHashMap<>();

  public LargePayloads(Limits limits) {
    this.limits = limits;
  }

  public boolean isLarge(@Nullable Payload payload) {
    return payload != null && limits.isLarge(payload);
  }

  /**
   * Logs the payload if it is large and none of the type was logged in the last hour.
   *
   * @param run null if the run does not exist yet
   * @param what which payload it is, for example "output of step pay"
   */
  public void warn(
      String workflowType, @Nullable RunId run, String what, @Nullable Payload payload) {
    warn(workflowType, run, what, payload, Map.of());
  }

  /** Logs the input of a start like {@link #warn}, with the trace that its headers name. */
  void warnInput(StartRequest start) {
    warn(start.workflowType(), start.runId(), "input", start.input(), start.options().headers());
  }

  private void warn(
      String workflowType,
      @Nullable RunId run,
      String what,
      @Nullable Payload payload,
      Map<String, String> headers) {
    if (payload == null || !limits.isLarge(payload)) {
      return;
    }
    if (warnedNanos.size() >= TYPES_MAX) {
      warnedNanos.clear();
    }
    long now = System.nanoTime();
    Long marked =
        warnedNanos.compute(
            workflowType,
            (type, before) -> before == null || now - before > INTERVAL_NANOS ? now : before);
    if (marked == now) {
      LoggingEventBuilder event = TraceLog.add(log.atWarn(), headers);
      if (run != null) {
        event = event.addKeyValue("run", run);
      }
      event
          .addKeyValue("type", workflowType)
          .addKeyValue("what", what)
          .addKeyValue("bytes", payload.bytes())
          .addKeyValue("warn", limits.payloadBytesWarn())
          .addKeyValue("max", limits.payloadBytesMax())
          .log("payload is larger than payload-bytes-warn");
    }
  }
}
