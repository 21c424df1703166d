package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.internal.log.EventLog;
import dev.kagzi.sdk.internal.log.LoggedRun;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Logs interrupted code that does not return and occupies its slot. Only the timer thread uses it.
 */
final class StuckCode {
  private static final EventLog log = EventLog.of(StuckCode.class);
  private static final int FRAMES_MAX = 8;
  private static final long WARN_AGAIN_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final LoggedRun run;
  private @Nullable Long warnedNanos;

  StuckCode(LoggedRun run) {
    this.run = run;
  }

  void warn(WorkflowThread workflowThread, long nowNanos) {
    if (warnedNanos != null && nowNanos - warnedNanos < WARN_AGAIN_NANOS) {
      return;
    }
    warnedNanos = nowNanos;
    RunningStep step = workflowThread.running();
    log.warn(
            "code ignores its interrupt, its results are discarded and it occupies a slot until it returns")
        .about(run)
        .with("step", step == null ? "" : step.key())
        .with("running_ms", step == null ? 0 : step.ranMs(nowNanos))
        .with("ignored_ms", TimeUnit.NANOSECONDS.toMillis(workflowThread.ignoredNanos(nowNanos)))
        .with("at", top(workflowThread.thread().getStackTrace()))
        .write();
  }

  // The topmost frame alone is often a JDK method that waits.
  private static String top(StackTraceElement[] stack) {
    return Arrays.stream(stack)
        .limit(FRAMES_MAX)
        .map(StackTraceElement::toString)
        .collect(Collectors.joining(" < "));
  }
}
