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
    return decode(json, RetryPolicy.DEFAULT);
  }

  /** Like {@link #decode(String)}, with the policy for absent members. */
  public static @Nullable RetryPolicy decode(@Nullable String json, RetryPolicy defaults) {
    if (json == null) {
      return null;
    }
    Reader reader = new Reader(defaults);
    Json.members(json, reader);
    return reader.policy();
  }

  private static final class Reader implements Json.Member {
    private final RetryPolicy defaults;
    private int attemptsMax;
    private @Nullable Long delayFirstMs;
    private double coefficient;
    private @Nullable Long delayMaxMs;
    private double jitter;
    private final List<String> nonRetryable = new ArrayList<>();
    private final List<String> retryableKinds = new ArrayList<>();

    Reader(RetryPolicy defaults) {
      this.defaults = defaults;
      this.attemptsMax = defaults.attemptsMax();
      this.coefficient = defaults.coefficient();
      this.jitter = defaults.jitter();
    }

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
      if (parser.currentToken() != JsonToken.START_ARRAY) {
        throw new IllegalStateException(
            parser.currentName() + ": " + parser.currentToken() + " (expected: an array of texts)");
      }
      while (parser.nextToken() == JsonToken.VALUE_STRING) {
        texts.add(parser.getString());
      }
      if (parser.currentToken() != JsonToken.END_ARRAY) {
        throw new IllegalStateException(
            "element of an array: " + parser.currentToken() + " (expected: a text)");
      }
    }

    RetryPolicy policy() {
      // If only one of the two delays is stored, adapt the default of the other, so that the first
      // delay does not exceed the maximum.
      long max = delayMaxMs == null ? defaults.delayMaxMs() : delayMaxMs;
      long first =
          delayFirstMs == null ? Math.min(defaults.delayFirstMs(), max) : delayFirstMs.longValue();
      return new RetryPolicy(
          attemptsMax,
          first,
          coefficient,
          delayMaxMs == null ? Math.max(max, first) : max,
          jitter,
          nonRetryable,
          retryableKinds);
    }
  }
}
