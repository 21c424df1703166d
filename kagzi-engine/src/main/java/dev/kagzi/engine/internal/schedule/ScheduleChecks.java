package dev.kagzi.engine.internal.schedule;

import dev.kagzi.engine.internal.run.LargePayloads;
import dev.kagzi.engine.schedule.ScheduleSpec;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.Refusal;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Checks the values of schedules, and finds the next slot of a new or changed one. */
public final class ScheduleChecks {
  private static final int MAX_CATCHUP_MAX = 1_000_000;
  private static final long JITTER_MS_MAX = Duration.ofDays(7).toMillis();
  private static final long TIME_MS_MAX = Duration.ofDays(100L * 366).toMillis();
  private static final Instant LATEST = Instant.parse("2200-01-01T00:00:00Z");

  private final Limits limits;
  private final LargePayloads large;

  public ScheduleChecks(Limits limits, LargePayloads large) {
    this.limits = limits;
    this.large = large;
  }

  public void check(String namespace, ScheduleSpec spec) {
    limits.checkName("namespace", namespace);
    limits.checkOptionalName("name", spec.name());
    limits.checkName("task_queue", spec.taskQueue());
    limits.checkName("workflow_type", spec.workflowType());
    limits.checkOptionalName("version", spec.version());
    limits.checkPayload("input", spec.input());
    checkRange("max_catchup", spec.maxCatchup(), 0, MAX_CATCHUP_MAX, "");
    checkRange("jitter_ms", spec.jitterMs(), 0, JITTER_MS_MAX, " ms");
    checkTime("execution_timeout_ms", spec.executionTimeoutMs());
    checkTime("step_timeout_ms", spec.stepTimeoutMs());
    limits.checkOptionalName("on_failure_workflow", spec.onFailureWorkflow());
    limits.checkOptionalName("on_failure_task_queue", spec.onFailureTaskQueue());
    if (spec.onFailureWorkflow().isEmpty() && !spec.onFailureTaskQueue().isEmpty()) {
      throw Refusal.invalid(
          "on_failure_task_queue",
          spec.onFailureTaskQueue() + " without on_failure_workflow",
          "both, or none");
    }
    large.warn(spec.workflowType(), null, "input of a schedule", spec.input());
  }

  private static void checkTime(String field, @Nullable Long millis) {
    if (millis != null) {
      checkRange(field, millis, 1, TIME_MS_MAX, " ms");
    }
  }

  private static void checkRange(String field, long value, long min, long max, String unit) {
    if (value < min || value > max) {
      throw Refusal.invalid(field, value + unit, min + " to " + max + unit);
    }
  }

  /**
   * Returns the next slot of a changed schedule: the requested one, the first of a new expression
   * or time zone, or else the one that it had.
   */
  public static long nextFire(
      ScheduleView before,
      ScheduleSpec spec,
      FireTimes slots,
      @Nullable Instant wanted,
      Instant now) {
    if (wanted != null) {
      if (wanted.isBefore(Instant.EPOCH) || wanted.isAfter(LATEST)) {
        throw Refusal.invalid("next_fire_at", wanted, Instant.EPOCH + " to " + LATEST);
      }
      return FireTimes.ceilSecond(wanted);
    }
    boolean same =
        spec.cronExpr().equals(before.spec().cronExpr())
            && spec.timeZone().equals(before.spec().timeZone());
    Instant next = before.nextFireAt();
    if (!same) {
      long due = before.enabled() && next != null ? next.getEpochSecond() - 1 : Long.MAX_VALUE;
      return nextFire(spec, slots, now, due);
    }
    return next == null ? FireTimes.NONE : next.getEpochSecond();
  }

  /**
   * Returns the first slot after now. A slot of the last two seconds that is still undecided is
   * returned instead, if the expression matches it.
   *
   * @param decided the second before the undecided slot; {@code Long.MAX_VALUE} if there is none
   */
  public static long nextFire(ScheduleSpec spec, FireTimes slots, Instant now, long decided) {
    long second = now.getEpochSecond();
    long next = slots.after(Math.min(second, Math.max(decided, second - OnTime.SECONDS - 1)));
    if (next == FireTimes.NONE) {
      throw Refusal.invalid(
          "cron_expr", "\"" + spec.cronExpr() + "\" never fires again", "a time after " + now);
    }
    return next;
  }
}
