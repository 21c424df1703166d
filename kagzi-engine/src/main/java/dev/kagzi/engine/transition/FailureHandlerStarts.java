package dev.kagzi.engine.transition;

import dev.kagzi.engine.run.FailureHandler;
import dev.kagzi.engine.run.ReservedIds;
import dev.kagzi.engine.run.RunRow;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartRun;
import dev.kagzi.engine.run.Versions;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Json;
import dev.kagzi.engine.value.Origin;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * The runs that a failure starts: the run's own handler and the handler of all failures. Their ids
 * follow from the failed run and its attempt, so that a failure that is written twice has them
 * once.
 */
final class FailureHandlerStarts {
  private FailureHandlerStarts() {}

  static List<StartRun> of(
      RunRow row, RunStatus status, Failure why, FailureContext news, Versions versions) {
    List<StartRun> starts = new ArrayList<>(2);
    // A handler that fails has no handler: nothing here may go on for ever.
    if (news.origin() == Origin.FAILURE_HANDLER) {
      return starts;
    }
    if (!news.handlerType().isEmpty()) {
      String queue = news.handlerQueue().isEmpty() ? row.queue().queue() : news.handlerQueue();
      starts.add(
          start(
              ReservedIds.FAILURE_HANDLER,
              row,
              queue,
              news.handlerType(),
              status,
              why,
              news,
              versions));
    }
    String globalQueue = news.globalQueue();
    if (globalQueue != null) {
      starts.add(
          start(
              ReservedIds.NAMESPACE_FAILURE_HANDLER,
              row,
              globalQueue,
              FailureHandler.TYPE,
              status,
              why,
              news,
              versions));
    }
    return starts;
  }

  private static StartRun start(
      String prefix,
      RunRow row,
      String queue,
      String type,
      RunStatus status,
      Failure why,
      FailureContext news,
      Versions versions) {
    RunId id = row.runId().derived(prefix + row.attempts());
    String externalId =
        prefix + row.runId() + (row.attempts() == 1 ? "" : "-attempt-" + row.attempts());
    StartRequest request =
        new StartRequest(
            row.queue().namespace(),
            externalId,
            queue,
            type,
            versions.resolve(row.queue().namespace(), type, ""),
            event(row, status, why, news),
            null,
            id);
    return new StartRun(id, request, StartRun.Lineage.handlerOf(row.runId()), null);
  }

  private static Payload event(RunRow row, RunStatus status, Failure why, FailureContext news) {
    String json =
        Json.object(
            object -> {
              object.writeStringProperty("failed_run_id", row.runId().toString());
              object.writeStringProperty("namespace_id", row.queue().namespace());
              object.writeStringProperty("workflow_type", row.type().type());
              object.writeStringProperty("task_queue", row.queue().queue());
              object.writeStringProperty("error", why.message());
              Payload input = news.input();
              if (input != null) {
                object.writeStringProperty(
                    "original_input", Base64.getEncoder().encodeToString(input.data()));
                object.writeObjectPropertyStart("original_input_metadata");
                input.metadata().forEach(object::writeStringProperty);
                object.writeEndObject();
              }
              object.writeNumberProperty("attempts", row.attempts());
              if (news.startedAt() != null) {
                object.writeStringProperty("started_at", news.startedAt().toString());
              }
              object.writeStringProperty("failed_at", news.now().toString());
              object.writeStringProperty("status", status.name());
              object.writeName("error_detail");
              object.writeRawValue(Json.encode(why));
              if (!news.externalId().isEmpty()) {
                object.writeStringProperty("external_id", news.externalId());
              }
            });
    return new Payload(
        json.getBytes(StandardCharsets.UTF_8),
        Map.of("content-type", "application/json", FailureHandler.EVENT_KEY, FailureHandler.EVENT));
  }
}
