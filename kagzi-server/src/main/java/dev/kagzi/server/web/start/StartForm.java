package dev.kagzi.server.web.start;

import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.run.IfExists;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.Shard;
import dev.kagzi.server.web.page.JsonText;
import dev.kagzi.server.web.page.PageRequest;
import dev.kagzi.server.web.page.TimeText;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The fields of the form, as texts.
 *
 * @param submission identifies the form that was shown: sent twice without a change, it starts one
 *     run
 * @param from the run that the new one is similar to; empty for none
 * @param sameInput whether the new run gets the bytes of that run's input, which are not JSON
 */
public record StartForm(
    String submission,
    String from,
    String workflowType,
    String taskQueue,
    String version,
    String externalId,
    String ifExists,
    String executionTimeout,
    String stepTimeout,
    String input,
    boolean sameInput) {

  static StartForm empty(String type, String queue) {
    return new StartForm(
        RunId.next().toString(),
        "",
        type,
        queue,
        "",
        "",
        IfExists.REJECT.name(),
        "",
        "",
        "",
        false);
  }

  /** Fills the form with what a run was started with, except its external id. */
  static StartForm like(RunView run) {
    String text = JsonText.of(run.input()).orElse("");
    return new StartForm(
        RunId.next().toString(),
        run.runId().toString(),
        run.workflowType(),
        run.taskQueue(),
        run.version(),
        "",
        IfExists.REJECT.name(),
        TimeText.text(run.setup().executionTimeoutMs()),
        TimeText.text(run.setup().stepTimeoutMs()),
        text,
        text.isEmpty() && !run.input().isEmpty());
  }

  static StartForm sent(PageRequest request) {
    return new StartForm(
        request.form("submission"),
        request.form("from"),
        request.form("workflow_type"),
        request.form("task_queue"),
        request.form("version"),
        request.form("external_id"),
        request.form("if_exists"),
        request.form("execution_timeout"),
        request.form("step_timeout"),
        request.form("input"),
        request.form("same_input").equals("true"));
  }

  public List<IfExists> choices() {
    return List.of(IfExists.REJECT, IfExists.USE_EXISTING, IfExists.USE_EXISTING_ANY);
  }

  /** Returns what a choice does if the external id already exists. */
  public String words(IfExists choice) {
    return switch (choice) {
      case REJECT -> "refuse the start while that run is open";
      case USE_EXISTING -> "show that run while it is open";
      case USE_EXISTING_ANY -> "show that run, even if it has ended";
    };
  }

  /** Returns whether optional fields have values, so that the form shows them. */
  public boolean hasOptions() {
    return !(externalId + executionTimeout + stepTimeout).isEmpty();
  }

  /**
   * Returns the start that the form describes. What the form does not show is taken from the
   * similar run, except its deadline, which may have passed.
   *
   * @param like the similar run; null for none
   * @throws Refusal if a field cannot be read
   */
  StartRequest request(String namespace, @Nullable RunView like) {
    RunView.Setup setup = like == null ? null : like.setup();
    StartOptions options =
        new StartOptions(
            TimeText.millis("execution_timeout", executionTimeout),
            null,
            TimeText.millis("step_timeout", stepTimeout),
            setup == null ? null : setup.heartbeatTimeoutMs(),
            setup == null ? "" : setup.onFailureWorkflow(),
            setup == null ? "" : setup.onFailureTaskQueue(),
            choice(),
            null,
            setup == null ? Map.of() : setup.headers());
    return new StartRequest(
        namespace,
        externalId,
        taskQueue,
        workflowType,
        version,
        payload(like),
        setup == null ? null : setup.retryPolicy(),
        runId(namespace),
        options);
  }

  private Payload payload(@Nullable RunView like) {
    if (like == null) {
      return JsonText.payload("input", input, Map.of());
    }
    return sameInput ? like.input() : JsonText.payload("input", input, like.input().metadata());
  }

  private IfExists choice() {
    return Arrays.stream(IfExists.values())
        .filter(choice -> choice.name().equals(ifExists))
        .findFirst()
        .orElseThrow(
            () -> Refusal.invalid("if_exists", ifExists, Arrays.toString(IfExists.values())));
  }

  /** A form that was changed since gets another id, so that it starts another run. */
  private RunId runId(String namespace) {
    RunId shown =
        RunId.parse(submission)
            .orElseThrow(() -> Refusal.invalid("submission", submission, "a UUID"));
    RunId id = shown.derived(toString());
    return externalId.isEmpty() ? id : id.in(Shard.of(namespace, externalId));
  }
}
