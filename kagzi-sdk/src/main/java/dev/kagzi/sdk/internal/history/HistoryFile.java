package dev.kagzi.sdk.internal.history;

import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.sdk.InvalidArgumentException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A recorded run with every attempt of its steps, and its form as a JSON document.
 *
 * @param steps in the order in which the attempts began
 */
public record HistoryFile(Workflow run, List<Step> steps) {
  private static final String FORMAT = "kagzi-history/1";

  /** Fields that the file omits: equal for all steps of a run, or only used by the server. */
  private static final Set<String> NOT_OF_A_STEP = Set.of("namespace", "step_id", "run_id");

  public HistoryFile {
    steps = List.copyOf(steps);
  }

  public String json() {
    ObjectNode json = MessageTree.MAPPER.createObjectNode();
    json.put("format", FORMAT);
    json.set("run", MessageTree.write(run, Set.of()));
    ArrayNode array = json.putArray("steps");
    steps.forEach(step -> array.add(MessageTree.write(step, NOT_OF_A_STEP)));
    return MessageTree.MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(json);
  }

  public static HistoryFile parse(String text) {
    JsonNode json;
    try {
      json = MessageTree.MAPPER.readTree(text);
    } catch (JacksonException e) {
      throw unreadable("not JSON: " + e.getOriginalMessage());
    }
    String format = json.path("format").asString("");
    if (!format.equals(FORMAT)) {
      throw unreadable(
          format.isEmpty()
              ? "no format (expected: \"format\": \"%s\")".formatted(FORMAT)
              : "format: %s (expected: %s; is it from a newer version?)".formatted(format, FORMAT));
    }
    Workflow.Builder run = Workflow.newBuilder();
    MessageTree.read(json.path("run"), run, "run");
    if (run.getRunId().isEmpty() || run.getWorkflowType().isEmpty()) {
      throw unreadable("run: without runId or workflowType (expected: both)");
    }
    List<Step> steps = new ArrayList<>();
    for (JsonNode each : json.path("steps")) {
      Step.Builder step = Step.newBuilder();
      MessageTree.read(each, step, "steps[" + steps.size() + "]");
      steps.add(step.setNamespace(run.getNamespace()).setRunId(run.getRunId()).build());
    }
    return new HistoryFile(run.build(), steps);
  }

  static InvalidArgumentException unreadable(String what) {
    return new InvalidArgumentException("HISTORY_UNREADABLE", "history: " + what);
  }
}
