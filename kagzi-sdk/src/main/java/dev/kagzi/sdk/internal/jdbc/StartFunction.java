package dev.kagzi.sdk.internal.jdbc;

import dev.kagzi.protocol.v1.IdConflictPolicy;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Requests a start with {@code kagzi.start_workflow}, in the database of the server. */
public final class StartFunction {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private static final String SQL =
      """
      SELECT kagzi.start_workflow(?, ?, external_id => ?, namespace => ?, options => ?::jsonb,
                                  input_data => ?, input_metadata => ?::jsonb, run_id => ?)
      """;

  private StartFunction() {}

  /** Requests the start, which has a run id, in the transaction of the connection. */
  public static void call(Connection connection, String namespace, StartWorkflowRequest start)
      throws SQLException {
    CallerTransaction.check(connection, "startIn");
    try (PreparedStatement select = connection.prepareStatement(SQL)) {
      select.setString(1, start.getWorkflowType());
      select.setString(2, start.getTaskQueue());
      select.setString(3, start.getExternalId());
      select.setString(4, namespace);
      select.setString(5, options(start));
      select.setBytes(6, start.getInput().getData().toByteArray());
      select.setString(7, texts(start.getInput().getMetadataMap()));
      select.setObject(8, UUID.fromString(start.getRunId()));
      select.execute();
    } catch (SQLException e) {
      throw MissingObjects.function(connection, "kagzi.start_workflow", "startInOutbox", e);
    }
  }

  static @Nullable String texts(Map<String, String> map) {
    if (map.isEmpty()) {
      return null;
    }
    ObjectNode json = JSON.createObjectNode();
    map.forEach(json::put);
    return json.toString();
  }

  private static String options(StartWorkflowRequest start) {
    ObjectNode json = JSON.createObjectNode();
    put(json, "version", start.getVersion());
    put(json, "on_failure_workflow", start.getOnFailureWorkflow());
    put(json, "on_failure_task_queue", start.getOnFailureTaskQueue());
    put(json, "execution_timeout_ms", start.getExecutionTimeoutMs());
    put(json, "step_timeout_ms", start.getStepTimeoutMs());
    put(json, "heartbeat_timeout_ms", start.getHeartbeatTimeoutMs());
    if (start.hasDeadline()) {
      Instant deadline =
          Instant.ofEpochSecond(start.getDeadline().getSeconds(), start.getDeadline().getNanos());
      json.put("deadline", deadline.toString());
    }
    if (start.getIdConflictPolicy() != IdConflictPolicy.ID_CONFLICT_POLICY_UNSPECIFIED) {
      json.put(
          "if_exists", start.getIdConflictPolicy().name().replaceFirst("^ID_CONFLICT_POLICY_", ""));
    }
    if (start.getHeadersCount() > 0) {
      ObjectNode headers = json.putObject("headers");
      start.getHeadersMap().forEach(headers::put);
    }
    if (start.hasRetryPolicy()) {
      putPolicy(json.putObject("retry_policy"), start.getRetryPolicy());
    }
    return json.toString();
  }

  /** Writes the fields that the policy sets; 0 means that a field is not set. */
  private static void putPolicy(ObjectNode json, RetryPolicy policy) {
    put(json, "maximum_attempts", policy.getMaximumAttempts());
    put(json, "initial_interval_ms", policy.getInitialIntervalMs());
    put(json, "maximum_interval_ms", policy.getMaximumIntervalMs());
    if (policy.getBackoffCoefficient() != 0) {
      json.put("backoff_coefficient", policy.getBackoffCoefficient());
    }
    if (policy.hasJitter()) {
      json.put("jitter", policy.getJitter());
    }
    if (policy.getNonRetryableErrorsCount() > 0) {
      policy.getNonRetryableErrorsList().forEach(json.putArray("non_retryable_errors")::add);
    }
    if (policy.getRetryableKindsCount() > 0) {
      policy.getRetryableKindsList().forEach(json.putArray("retryable_kinds")::add);
    }
  }

  private static void put(ObjectNode json, String name, String value) {
    if (!value.isEmpty()) {
      json.put(name, value);
    }
  }

  private static void put(ObjectNode json, String name, long value) {
    if (value != 0) {
      json.put(name, value);
    }
  }
}
