package dev.kagzi.engine.internal.retry;

import dev.kagzi.engine.internal.value.Json;
import dev.kagzi.engine.retry.RetryPolicy;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Converts policies to and from {@code jsonb} columns; null is no policy. */
public final class RetryPolicyJson {
  private RetryPolicyJson() {}

  /** Writes every member, so that a later change of a default does not affect started runs. */
  public static @Nullable String encode(@Nullable RetryPolicy policy) {
    if (policy == null) {
      return null;
    }
    return Json.object(
        json -> {
          json.writeNumberProperty("maximum_attempts", policy.attemptsMax());
          json.writeNumberProperty("initial_interval_ms", policy.delayFirstMs());
          json.writeNumberProperty("backoff_coefficient", policy.coefficient());
          json.writeNumberProperty("maximum_interval_ms", policy.delayMaxMs());
          json.writeNumberProperty("jitter", policy.jitter());
          if (!policy.nonRetryable().isEmpty()) {
            json.writeArrayPropertyStart("non_retryable_errors");
            policy.nonRetryable().forEach(json::writeString);
            json.writeEndArray();
          }
          if (!policy.retryableKinds().isEmpty()) {
            json.writeArrayPropertyStart("retryable_kinds");
            policy.retryableKinds().forEach(json::writeString);
            json.writeEndArray();
          }
        });
  }

  /** Reads what {@link #encode} wrote; an absent member gets the value of the default policy. */
  public static @Nullable RetryPolicy decode(@Nullable String json) {
    if (json == null) {
      return null;
    }
    Reader reader = new Reader();
    Json.members(json, reader);
    return reader.policy();
  }

  private static final class Reader implements Json.Member {
    private int attemptsMax = RetryPolicy.DEFAULT.attemptsMax();
    private long delayFirstMs = RetryPolicy.DEFAULT.delayFirstMs();
    private double coefficient = RetryPolicy.DEFAULT.coefficient();
    private long delayMaxMs = RetryPolicy.DEFAULT.delayMaxMs();
    private double jitter = RetryPolicy.DEFAULT.jitter();
    private final List<String> nonRetryable = new ArrayList<>();
    private final List<String> retryableKinds = new ArrayList<>();

    @Override
    public void read(String name, JsonParser parser) {
      switch (name) {
        case "maximum_attempts" -> attemptsMax = parser.getIntValue();
        case "initial_interval_ms" -> delayFirstMs = parser.getLongValue();
        case "backoff_coefficient" -> coefficient = parser.getDoubleValue();
        case "maximum_interval_ms" -> delayMaxMs = parser.getLongValue();
        case "jitter" -> jitter = parser.getDoubleValue();
        case "non_retryable_errors" -> readTexts(parser, nonRetryable);
        case "retryable_kinds" -> readTexts(parser, retryableKinds);
        default -> parser.skipChildren();
      }
    }

    private static void readTexts(JsonParser parser, List<String> texts) {
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        texts.add(parser.getString());
      }
    }

    RetryPolicy policy() {
      return new RetryPolicy(
          attemptsMax, delayFirstMs, coefficient, delayMaxMs, jitter, nonRetryable, retryableKinds);
    }
  }
}
