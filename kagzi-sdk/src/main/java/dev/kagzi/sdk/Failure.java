package dev.kagzi.sdk;

import java.util.Map;

/**
 * A recorded error of a step or a run.
 *
 * @param type name of the exception's class; empty if unknown
 * @param message what the exception said
 * @param nonRetryable no retry was allowed, whatever the policy
 * @param metadata what else was recorded with it
 */
public record Failure(
    String type, String message, boolean nonRetryable, Map<String, String> metadata) {
  public Failure {
    metadata = Map.copyOf(metadata);
  }

  @Override
  public String toString() {
    return type.isEmpty() ? message : type + ": " + message;
  }
}
