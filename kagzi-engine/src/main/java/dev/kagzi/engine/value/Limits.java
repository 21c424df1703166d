package dev.kagzi.engine.value;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Size limits. A request or report over a limit is refused, with the value and the limit in the
 * message, and nothing of it is stored.
 *
 * @param payloadBytesWarn larger payloads are logged as a warning
 * @param payloadBytesMax data and metadata of one payload
 * @param nameLengthMax namespace, queue, workflow type, version
 * @param stepKeyLengthMax scope, name and occurrence of a step
 * @param stepsPerRunMax recorded steps of one run
 * @param signalsPerRunMax signals to one run that it has not received
 * @param signalBytesPerRunMax the contents of those signals
 * @param labelsMax entries of one map of labels or metadata
 * @param labelLengthMax each key and each value of labels
 * @param textLengthMax free text, for example descriptions and reasons
 */
public record Limits(
    int payloadBytesWarn,
    int payloadBytesMax,
    int nameLengthMax,
    int externalIdLengthMax,
    int stepKeyLengthMax,
    int stepsPerRunMax,
    int signalsPerRunMax,
    int signalBytesPerRunMax,
    int labelsMax,
    int labelLengthMax,
    int textLengthMax) {

  public static final int HEADERS_MAX = 64;

  /**
   * Enough for a trace context with its baggage, which may have 8 KiB, and some headers of the
   * user.
   */
  public static final int HEADERS_BYTES_MAX = 16 << 10;

  private static final Pattern HEADER_NAME = Pattern.compile("[a-zA-Z0-9._-]{1,100}");

  public static final Limits DEFAULT =
      new Limits(1 << 20, 2 << 20, 200, 500, 500, 100_000, 10_000, 16 << 20, 100, 1_000, 4_096);

  public Limits {
    atLeastOne("payloadBytesWarn", payloadBytesWarn);
    atLeastOne("payloadBytesMax", payloadBytesMax);
    atLeastOne("nameLengthMax", nameLengthMax);
    atLeastOne("externalIdLengthMax", externalIdLengthMax);
    atLeastOne("stepKeyLengthMax", stepKeyLengthMax);
    atLeastOne("stepsPerRunMax", stepsPerRunMax);
    atLeastOne("signalsPerRunMax", signalsPerRunMax);
    atLeastOne("signalBytesPerRunMax", signalBytesPerRunMax);
    atLeastOne("labelsMax", labelsMax);
    atLeastOne("labelLengthMax", labelLengthMax);
    atLeastOne("textLengthMax", textLengthMax);
  }

  public void checkName(String field, String value) {
    checkName(field, value, nameLengthMax);
  }

  public void checkOptionalName(String field, @Nullable String value) {
    if (value != null && !value.isEmpty()) {
      checkName(field, value, nameLengthMax);
    }
  }

  public void checkExternalId(String field, @Nullable String value) {
    if (value != null && !value.isEmpty()) {
      checkName(field, value, externalIdLengthMax);
    }
  }

  /** A receive is a step with the name of its signal, so the same characters are rejected. */
  public void checkSignalName(String field, String value) {
    checkName(field, value);
    if (value.indexOf('#') >= 0 || value.indexOf('/') >= 0 || value.indexOf('@') >= 0) {
      throw Refusal.invalid(field, value, "none of the characters # / @");
    }
  }

  public void checkStepKey(String field, String value) {
    checkName(field, value, stepKeyLengthMax);
  }

  /** Checks free text, which may be empty and contain line breaks. */
  public void checkText(String field, String value) {
    checkLength(field, value, textLengthMax);
    checkStorable(field, value);
  }

  public void checkLabels(String field, Map<String, String> labels) {
    checkEntries(field, labels.size());
    labels.forEach(
        (key, value) -> {
          checkName(field + " key", key, labelLengthMax);
          checkLength(field + "[" + Refusal.shorten(key) + "]", value, labelLengthMax);
          checkStorable(field + "[" + Refusal.shorten(key) + "]", value);
        });
  }

  /** Checks the headers of a start. */
  public static void checkHeaders(Map<String, String> headers) {
    if (headers.size() > HEADERS_MAX) {
      throw Refusal.invalid(
          "headers", headers.size() + " entries", "at most " + HEADERS_MAX + " entries");
    }
    headers.forEach(
        (name, value) -> {
          if (!HEADER_NAME.matcher(name).matches()) {
            throw Refusal.invalid(
                "headers name", name, "1 to 100 of the characters a-z A-Z 0-9 . _ -");
          }
          checkStorable("headers[" + name + "]", value);
        });
    int bytes = bytes(headers);
    if (bytes > HEADERS_BYTES_MAX) {
      throw Refusal.invalid(
          "headers", bytes + " bytes", "at most " + HEADERS_BYTES_MAX + " bytes in all");
    }
  }

  /** Returns the size of names and values in UTF-8. */
  public static int bytes(Map<String, String> texts) {
    int bytes = 0;
    for (Map.Entry<String, String> entry : texts.entrySet()) {
      bytes += entry.getKey().getBytes(StandardCharsets.UTF_8).length;
      bytes += entry.getValue().getBytes(StandardCharsets.UTF_8).length;
    }
    return bytes;
  }

  public void checkPayload(String field, @Nullable Payload payload) {
    if (payload == null) {
      return;
    }
    if (payload.bytes() > payloadBytesMax) {
      throw Refusal.invalid(
          field, payload.bytes() + " bytes", "at most " + payloadBytesMax + " bytes");
    }
    if (!payload.metadata().isEmpty()) {
      checkMetadata(field + ".metadata", payload.metadata());
    }
  }

  public boolean isLarge(Payload payload) {
    return payload.bytes() > payloadBytesWarn;
  }

  /** Checks a reported failure, which may be as large as a payload. */
  public void checkFailure(String field, Failure failure) {
    checkStorable(field + ".message", failure.message());
    checkStorable(field + ".subject", failure.subject());
    checkStorable(field + ".subject_id", failure.subjectId());
    if (failure.bytes() > payloadBytesMax) {
      throw Refusal.invalid(
          field, failure.bytes() + " bytes", "at most " + payloadBytesMax + " bytes");
    }
    checkMetadata(field + ".metadata", failure.metadata());
  }

  // Values have no limit of their own, because a stack trace may be long. The caller bounds the
  // sum.
  private void checkMetadata(String field, Map<String, String> metadata) {
    checkEntries(field, metadata.size());
    metadata.forEach(
        (key, value) -> {
          checkLength(field + " key", key, labelLengthMax);
          checkStorable(field + " key", key);
          checkStorable(field + "[" + Refusal.shorten(key) + "]", value);
        });
  }

  private void checkEntries(String field, int size) {
    if (size > labelsMax) {
      throw Refusal.invalid(field, size + " entries", "at most " + labelsMax + " entries");
    }
  }

  private static void checkName(String field, String value, int lengthMax) {
    if (value.isEmpty()) {
      throw Refusal.invalid(field, "\"\"", "1 to " + lengthMax + " characters");
    }
    checkLength(field, value, lengthMax);
    for (int i = 0; i < value.length(); i++) {
      if (Character.isISOControl(value.charAt(i))) {
        throw Refusal.invalid(field, value, "no control characters");
      }
    }
    checkStorable(field, value);
  }

  private static void checkLength(String field, String value, int lengthMax) {
    if (value.length() > lengthMax) {
      throw Refusal.invalid(field, value, "at most " + lengthMax + " characters");
    }
  }

  /** Refuses text that PostgreSQL cannot store: U+0000 and unpaired surrogates. */
  public static void checkStorable(String field, String value) {
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == 0) {
        throw Refusal.invalid(field, value, "text without U+0000");
      }
      if (Character.isSurrogate(c)) {
        boolean pair =
            Character.isHighSurrogate(c)
                && i + 1 < value.length()
                && Character.isLowSurrogate(value.charAt(i + 1));
        if (!pair) {
          throw Refusal.invalid(field, value, "text without unpaired surrogates");
        }
        i++;
      }
    }
  }

  private static void atLeastOne(String what, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(what + ": " + value + " (expected: at least 1)");
    }
  }
}
