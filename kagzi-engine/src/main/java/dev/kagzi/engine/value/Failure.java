package dev.kagzi.engine.value;

import java.util.HashMap;
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

  private static final int TEXT_MAX = 8 << 10;
  private static final int STACK_MAX = 32 << 10;

  public Failure {
    metadata = Map.copyOf(metadata);
  }

  /** A failure that the engine itself found. */
  public static Failure of(ErrorCode code, String message) {
    return new Failure(code, message, true, 0, "", "", Map.of());
  }

  /**
   * The failure as it is stored: texts of a sensible length, without control characters that would
   * garble whoever shows them. Line breaks and tabs stay.
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
    if (fits && text.chars().noneMatch(Failure::isGarbling)) {
      return text;
    }
    StringBuilder clean = new StringBuilder(Math.min(text.length(), lengthMax));
    text.codePoints().filter(c -> !isGarbling(c)).limit(lengthMax).forEach(clean::appendCodePoint);
    return fits ? clean.toString() : clean.append("...").toString();
  }

  private static boolean isGarbling(int c) {
    return Character.isISOControl(c) && c != '\n' && c != '\t';
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
