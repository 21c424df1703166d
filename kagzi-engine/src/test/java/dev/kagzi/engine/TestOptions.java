package dev.kagzi.engine;

import dev.kagzi.engine.run.IfExists;
import dev.kagzi.engine.run.StartOptions;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/** Builds options of a start. */
@NullMarked
public final class TestOptions {
  private @Nullable Long executionTimeoutMs;
  private @Nullable Instant deadline;
  private @Nullable Long stepTimeoutMs;
  private @Nullable Long heartbeatTimeoutMs;
  private String onFailureWorkflow = "";
  private String onFailureTaskQueue = "";
  private IfExists ifExists = StartOptions.NONE.ifExists();
  private StartOptions.@Nullable Parent parent;
  private Map<String, String> headers = Map.of();

  public TestOptions withExecutionTimeoutMs(long millis) {
    executionTimeoutMs = millis;
    return this;
  }

  public TestOptions withDeadline(Instant time) {
    deadline = time;
    return this;
  }

  public TestOptions withStepTimeoutMs(long millis) {
    stepTimeoutMs = millis;
    return this;
  }

  public TestOptions withHeartbeatTimeoutMs(long millis) {
    heartbeatTimeoutMs = millis;
    return this;
  }

  public TestOptions withOnFailure(String workflow, String taskQueue) {
    onFailureWorkflow = workflow;
    onFailureTaskQueue = taskQueue;
    return this;
  }

  public TestOptions withIfExists(IfExists policy) {
    ifExists = policy;
    return this;
  }

  public TestOptions withParent(StartOptions.Parent other) {
    parent = other;
    return this;
  }

  public TestOptions withHeaders(Map<String, String> other) {
    headers = other;
    return this;
  }

  public StartOptions build() {
    return new StartOptions(
        executionTimeoutMs,
        deadline,
        stepTimeoutMs,
        heartbeatTimeoutMs,
        onFailureWorkflow,
        onFailureTaskQueue,
        ifExists,
        parent,
        headers);
  }
}
