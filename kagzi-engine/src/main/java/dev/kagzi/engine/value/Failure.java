package dev.kagzi.engine.value;

import java.util.HashMap;
import java.util.Map;

/** Why a step or a run failed, as reported by its worker or detected by the engine. */
public record Failure(
    ErrorCode code,
    String message,
    boolean nonRetryable,
    long retryAfterMs,
    String subject,
    String subjectId,
    Map<String, String> metadata) {

  private static final int TEXT_MAX = 8 << 10;
  private static final int STACK_MAX = 32 << 10;

  public Failure {
    metadata = Map.copyOf(metadata);
  }

  /** A failure that the engine itself detected; not retryable. */
  public static Failure of(ErrorCode code, String message) {
    return new Failure(code, message, true, 0, "", "", Map.of());
  }

  /**
   * A copy with bounded texts and without control characters, which would garble logs and
   * terminals. Line breaks and tabs stay.
   */
  public Failure bounded() {
    Map<String, String> clean = new HashMap<>();
    metadata.forEach(
        (key, value) -> clean.put(key, clean(value, key.equals("stack") ? STACK_MAX : TEXT_MAX)));
    return new Failure(
        code,
        clean(message, TEXT_MAX),
        nonRetryable,
        retryAfterMs,
        clean(subject, TEXT_MAX),
        clean(subjectId, TEXT_MAX),
        clean);
  }

  private static String clean(String text, int lengthMax) {
    boolean fits = text.length() <= lengthMax;
    if (fits && text.chars().noneMatch(Failure::isUnprintable)) {
      return text;
    }
    StringBuilder clean = new StringBuilder(Math.min(text.length(), lengthMax));
    text.codePoints()
        .filter(c -> !isUnprintable(c))
        .limit(lengthMax)
        .forEach(clean::appendCodePoint);
    return fits ? clean.toString() : clean.append("...").toString();
  }

  private static boolean isUnprintable(int c) {
    return Character.isISOControl(c) && c != '\n' && c != '\t';
  }

  public int bytes() {
    int sum = message.length() + subject.length() + subjectId.length();
    for (Map.Entry<String, String> entry : metadata.entrySet()) {
      sum += entry.getKey().length() + entry.getValue().length();
    }
    return sum;
  }
}
