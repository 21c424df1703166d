package dev.kagzi.sdk.internal.log;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Calls the application's telemetry, such as its meter registry and span processors. What they
 * throw is logged and not rethrown: otherwise a fault of the telemetry would fail steps, lose their
 * results or occupy slots for ever. Thread-safe.
 */
public final class TelemetryGuard {
  private static final EventLog log = EventLog.of(TelemetryGuard.class);

  private final String telemetry;
  private final Map<String, RepeatLimiter> limiters = new ConcurrentHashMap<>();

  /**
   * @param telemetry what is guarded, for the log
   */
  public TelemetryGuard(String telemetry) {
    this.telemetry = telemetry;
  }

  /**
   * @param call names the call in the log; one of a fixed set of words
   */
  public void run(String call, Runnable code) {
    try {
      code.run();
    } catch (Throwable e) {
      failed(call, e);
    }
  }

  /** Like {@link #run}; returns {@code otherwise} if the call throws. */
  public <T> T get(String call, Supplier<? extends T> code, T otherwise) {
    try {
      return code.get();
    } catch (Throwable e) {
      failed(call, e);
      return otherwise;
    }
  }

  private void failed(String call, Throwable thrown) {
    String what = "the application's " + telemetry + " threw an exception, which is ignored";
    RepeatLimiter limiter = limiters.computeIfAbsent(call, name -> new RepeatLimiter());
    (limiter.isNew(thrown.getClass().getName()) ? log.warn(what) : log.debug(what))
        .about(LogContext.currentRun())
        .with("call", call)
        .cause(thrown)
        .write();
  }
}
