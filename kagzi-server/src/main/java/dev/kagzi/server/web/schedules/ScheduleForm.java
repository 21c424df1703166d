package dev.kagzi.server.web.schedules;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.schedule.Overlap;
import dev.kagzi.engine.schedule.ScheduleSpec;
import dev.kagzi.engine.schedule.ScheduleUpdate;
import dev.kagzi.engine.schedule.ScheduleView;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.server.web.page.JsonText;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.TimeText;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The fields of the form, as texts.
 *
 * @param sameInput whether the schedule keeps its input, which is not JSON
 * @param attempts the maximum attempts of the retry policy; empty for no retry policy
 * @param paused whether a new schedule does not fire yet
 */
public record ScheduleForm(
    String name,
    String workflowType,
    String taskQueue,
    String version,
    String cronExpr,
    String timeZone,
    String input,
    boolean sameInput,
    String overlap,
    String maxCatchup,
    String jitter,
    String attempts,
    String firstDelay,
    String longestDelay,
    String executionTimeout,
    String stepTimeout,
    String onFailureWorkflow,
    String onFailureTaskQueue,
    boolean paused) {

  private static final List<String> OLD_ZONES =
      List.of("Etc/", "SystemV/", "US/", "Brazil/", "Canada/", "Mexico/", "Chile/");

  static ScheduleForm empty(String type, String queue) {
    return new ScheduleForm(
        "",
        type,
        queue,
        "",
        "",
        ScheduleSpec.TIME_ZONE_DEFAULT,
        "",
        false,
        Overlap.ALLOW.name(),
        Integer.toString(ScheduleSpec.MAX_CATCHUP_DEFAULT),
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        false);
  }

  static ScheduleForm of(ScheduleView view) {
    ScheduleSpec spec = view.spec();
    RetryPolicy retry = spec.retryPolicy();
    String text = JsonText.of(spec.input()).orElse("");
    return new ScheduleForm(
        spec.name(),
        spec.workflowType(),
        spec.taskQueue(),
        spec.version(),
        spec.cronExpr(),
        spec.timeZone(),
        text,
        text.isEmpty() && !spec.input().isEmpty(),
        spec.overlap().name(),
        Integer.toString(spec.maxCatchup()),
        spec.jitterMs() == 0 ? "" : TimeText.text(spec.jitterMs()),
        retry == null ? "" : Integer.toString(retry.attemptsMax()),
        retry == null ? "" : TimeText.text(retry.delayFirstMs()),
        retry == null ? "" : TimeText.text(retry.delayMaxMs()),
        TimeText.text(spec.executionTimeoutMs()),
        TimeText.text(spec.stepTimeoutMs()),
        spec.onFailureWorkflow(),
        spec.onFailureTaskQueue(),
        !view.enabled());
  }

  static ScheduleForm sent(PageRequest request) {
    String zone = request.form("time_zone");
    return new ScheduleForm(
        request.form("name"),
        request.form("workflow_type"),
        request.form("task_queue"),
        request.form("version"),
        request.form("cron_expr"),
        zone.isEmpty() ? ScheduleSpec.TIME_ZONE_DEFAULT : zone,
        request.form("input"),
        request.form("same_input").equals("true"),
        request.form("overlap_policy"),
        request.form("max_catchup"),
        request.form("jitter"),
        request.form("maximum_attempts"),
        request.form("initial_interval"),
        request.form("maximum_interval"),
        request.form("execution_timeout"),
        request.form("step_timeout"),
        request.form("on_failure_workflow"),
        request.form("on_failure_task_queue"),
        request.form("paused").equals("true"));
  }

  public List<Overlap> overlaps() {
    return List.of(Overlap.values());
  }

  /** Returns what a policy does with a slot while an earlier run is open. */
  public String words(Overlap choice) {
    return switch (choice) {
      case ALLOW -> "starts a run beside it";
      case SKIP -> "is missed";
      case BUFFER_ONE -> "waits for its end; further ones are missed";
    };
  }

  /** Returns whether optional fields have values, so that the form shows them. */
  public boolean hasOptions() {
    String texts = jitter + attempts + firstDelay + longestDelay + executionTimeout + stepTimeout;
    return !(texts + onFailureWorkflow + onFailureTaskQueue).isEmpty()
        || !maxCatchup.equals(Integer.toString(ScheduleSpec.MAX_CATCHUP_DEFAULT));
  }

  /**
   * Returns the schedule that the form describes.
   *
   * @param before the schedule that is changed; null for a new one
   * @param defaults of retry policies
   * @throws Refusal if a field cannot be read
   */
  ScheduleSpec spec(@Nullable ScheduleSpec before, RetryPolicy defaults) {
    return new ScheduleSpec(
        name,
        taskQueue,
        workflowType,
        version,
        cronExpr,
        timeZone,
        payload(before),
        Overlap.read(overlap),
        number("max_catchup", maxCatchup, ScheduleSpec.MAX_CATCHUP_DEFAULT),
        Objects.requireNonNullElse(TimeText.millis("jitter", jitter), 0L),
        retryPolicy(before, defaults),
        TimeText.millis("execution_timeout", executionTimeout),
        TimeText.millis("step_timeout", stepTimeout),
        onFailureWorkflow,
        onFailureTaskQueue);
  }

  /** Returns the change that makes a schedule what the form describes. */
  ScheduleUpdate update(ScheduleSpec before, RetryPolicy defaults) {
    ScheduleSpec spec = spec(before, defaults);
    return new ScheduleUpdate(
        spec.name(),
        spec.taskQueue(),
        spec.workflowType(),
        spec.version(),
        spec.cronExpr(),
        spec.timeZone(),
        spec.input(),
        spec.overlap(),
        spec.maxCatchup(),
        spec.jitterMs(),
        spec.retryPolicy(),
        spec.retryPolicy() == null,
        Objects.requireNonNullElse(spec.executionTimeoutMs(), 0L),
        Objects.requireNonNullElse(spec.stepTimeoutMs(), 0L),
        spec.onFailureWorkflow(),
        spec.onFailureTaskQueue(),
        null,
        null);
  }

  private Payload payload(@Nullable ScheduleSpec before) {
    if (before == null) {
      return JsonText.payload("input", input, Map.of());
    }
    return sameInput ? before.input() : JsonText.payload("input", input, before.input().metadata());
  }

  /**
   * Fields of the policy that the form does not show keep their values; in a new policy they get
   * the defaults.
   */
  private @Nullable RetryPolicy retryPolicy(@Nullable ScheduleSpec before, RetryPolicy defaults) {
    Long first = TimeText.millis("initial_interval", firstDelay);
    Long longest = TimeText.millis("maximum_interval", longestDelay);
    if (attempts.isEmpty()) {
      if (first != null || longest != null) {
        throw Refusal.invalid("maximum_attempts", "\"\"", "a number if there is a delay");
      }
      return null;
    }
    RetryPolicy rest =
        before == null ? defaults : Objects.requireNonNullElse(before.retryPolicy(), defaults);
    long delayFirst = first == null ? Math.min(rest.delayFirstMs(), or(longest)) : first;
    return new RetryPolicy(
        number("maximum_attempts", attempts, rest.attemptsMax()),
        delayFirst,
        rest.coefficient(),
        longest == null ? Math.max(rest.delayMaxMs(), delayFirst) : longest,
        rest.jitter(),
        rest.nonRetryable(),
        rest.retryableKinds());
  }

  private static long or(@Nullable Long longest) {
    return longest == null ? Long.MAX_VALUE : longest;
  }

  private static int number(String field, String text, int whenEmpty) {
    try {
      return text.isEmpty() ? whenEmpty : Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw Refusal.invalid(field, text, "a number");
    }
  }

  /** Returns the zones that people choose; all zones of the database are accepted. */
  static List<String> zones() {
    return ZoneId.getAvailableZoneIds().stream()
        .filter(zone -> zone.equals("UTC") || zone.contains("/"))
        .filter(zone -> OLD_ZONES.stream().noneMatch(zone::startsWith))
        .sorted()
        .toList();
  }
}
