package dev.kagzi.engine.value;

import java.util.Map;

/** Why a step or a run failed, as its worker said it. Nothing of it is lost on the way. */
public record Failure(
    ErrorCode code,
    String message,
    boolean nonRetryable,
    long retryAfterMs,
    String subject,
    String subjectId,
    Map<String, String> metadata) {

  public Failure {
    metadata = Map.copyOf(metadata);
  }

  /** A failure that the engine itself found. */
  public static Failure of(ErrorCode code, String message) {
    return new Failure(code, message, true, 0, "", "", Map.of());
  }

  /** How much of a budget this failure takes. */
  public int bytes() {
    int sum = message.length() + subject.length() + subjectId.length();
    for (Map.Entry<String, String> entry : metadata.entrySet()) {
      sum += entry.getKey().length() + entry.getValue().length();
    }
    return sum;
  }
}
