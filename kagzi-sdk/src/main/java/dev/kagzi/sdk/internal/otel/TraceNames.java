package dev.kagzi.sdk.internal.otel;

import io.opentelemetry.api.common.AttributeKey;

/** The attributes of spans. {@code docs/tracing.md} lists them. */
final class TraceNames {
  static final AttributeKey<String> NAMESPACE = AttributeKey.stringKey("kagzi.namespace");
  static final AttributeKey<String> TASK_QUEUE = AttributeKey.stringKey("kagzi.task_queue");
  static final AttributeKey<String> WORKFLOW_TYPE = AttributeKey.stringKey("kagzi.workflow.type");
  static final AttributeKey<String> WORKFLOW_VERSION =
      AttributeKey.stringKey("kagzi.workflow.version");
  static final AttributeKey<String> WORKFLOW_ID = AttributeKey.stringKey("kagzi.workflow.id");
  static final AttributeKey<String> RUN_ID = AttributeKey.stringKey("kagzi.run.id");
  static final AttributeKey<Boolean> RUN_EXISTED = AttributeKey.booleanKey("kagzi.run.existed");
  static final AttributeKey<Long> RUN_ATTEMPT = AttributeKey.longKey("kagzi.run.attempt");
  static final AttributeKey<Long> RUN_EPOCH = AttributeKey.longKey("kagzi.run.epoch");
  static final AttributeKey<String> RUN_OUTCOME = AttributeKey.stringKey("kagzi.run.outcome");
  static final AttributeKey<String> WORKER_ID = AttributeKey.stringKey("kagzi.worker.id");
  static final AttributeKey<String> STEP_KEY = AttributeKey.stringKey("kagzi.step.key");
  static final AttributeKey<Long> STEP_ATTEMPT = AttributeKey.longKey("kagzi.step.attempt");
  static final AttributeKey<Boolean> STEP_STOPPED = AttributeKey.booleanKey("kagzi.step.stopped");

  // Of OpenTelemetry's semantic conventions, for the event "exception".
  static final AttributeKey<String> EXCEPTION_TYPE = AttributeKey.stringKey("exception.type");
  static final AttributeKey<String> EXCEPTION_MESSAGE = AttributeKey.stringKey("exception.message");
  static final AttributeKey<String> EXCEPTION_STACK =
      AttributeKey.stringKey("exception.stacktrace");

  private TraceNames() {}
}
