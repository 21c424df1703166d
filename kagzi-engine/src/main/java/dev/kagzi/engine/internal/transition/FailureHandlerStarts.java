package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.run.FailureHandler;
import dev.kagzi.engine.internal.run.ReservedIds;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.run.StartRun;
import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.Versions;
import dev.kagzi.engine.value.Failure;
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
 * Creates the starts of the failure handlers of a run that failed or timed out: its own handler and
 * the namespace's handler. Their run ids are derived from the failed run and its attempt, so a
 * failure that is written twice starts each handler once.
 */
record FailureHandlerStarts(
    RunRow row, RunStatus status, Failure why, FailureContext context, Versions versions) {

  List<StartRun> all() {
    List<StartRun> starts = new ArrayList<>(2);
    // A failed handler starts no handler. Otherwise failures could start handlers endlessly.
    if (context.origin() == Origin.FAILURE_HANDLER) {
      return starts;
    }
    if (!context.handlerType().isEmpty()) {
      String queue =
          context.handlerQueue().isEmpty() ? row.queue().queue() : context.handlerQueue();
      starts.add(start(ReservedIds.FAILURE_HANDLER, queue, context.handlerType()));
    }
    String globalQueue = context.globalQueue();
    if (globalQueue != null) {
      starts.add(start(ReservedIds.NAMESPACE_FAILURE_HANDLER, globalQueue, FailureHandler.TYPE));
    }
    return starts;
  }

  private StartRun start(String prefix, String queue, String type) {
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
            event(),
            null,
            id,
            StartOptions.NONE.withHeaders(context.headers()));
    return new StartRun(id, request, StartRun.Lineage.handlerOf(row.runId()), null);
  }

  private Payload event() {
    String json =
        Json.object(
            object -> {
              object.writeStringProperty("failed_run_id", row.runId().toString());
              object.writeStringProperty("namespace_id", row.queue().namespace());
              object.writeStringProperty("workflow_type", row.type().type());
              object.writeStringProperty("task_queue", row.queue().queue());
              object.writeStringProperty("error", why.message());
              Payload input = context.input();
              if (input != null) {
                object.writeStringProperty(
                    "original_input", Base64.getEncoder().encodeToString(input.data()));
                object.writeObjectPropertyStart("original_input_metadata");
                input.metadata().forEach(object::writeStringProperty);
                object.writeEndObject();
              }
              object.writeNumberProperty("attempts", row.attempts());
              if (context.startedAt() != null) {
                object.writeStringProperty("started_at", context.startedAt().toString());
              }
              object.writeStringProperty("failed_at", context.now().toString());
              object.writeStringProperty("status", status.name());
              object.writeName("error_detail");
              object.writeRawValue(Json.encode(why));
              if (!context.externalId().isEmpty()) {
                object.writeStringProperty("external_id", context.externalId());
              }
            });
    return new Payload(
        json.getBytes(StandardCharsets.UTF_8),
        Map.of("content-type", "application/json", FailureHandler.EVENT_KEY, FailureHandler.EVENT));
  }
}
