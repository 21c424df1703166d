package dev.kagzi.engine.step;

import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Identifies one attempt of a step and its claim. Clients receive it as an opaque text and send it
 * back, so that their reports are fenced although they do not know epochs.
 */
public record StepRef(RunId runId, String stepKey, int attempt, int epoch) {
  private static final int RUN_ID_LENGTH = 36;
  private static final Pattern SCOPE_OR_OCCURRENCE =
      Pattern.compile("^(?:[^/]*\\[[^\\]/]+]/)+|#[0-9]+$");
  private static final String EXPECTED = "a step id that the server returned";

  /** Parses the text of {@link #toString}. The step key may contain any of the separators. */
  public static StepRef parse(String text) {
    int at = text.lastIndexOf('@');
    int dot = text.lastIndexOf('.');
    if (at <= RUN_ID_LENGTH + 1 || dot < at || text.charAt(RUN_ID_LENGTH) != '/') {
      throw Refusal.invalid("step_id", text, EXPECTED);
    }
    Optional<RunId> runId = RunId.parse(text.substring(0, RUN_ID_LENGTH));
    int attempt = number(text, at + 1, dot);
    int epoch = number(text, dot + 1, text.length());
    if (runId.isEmpty() || attempt < 1 || epoch < 1) {
      throw Refusal.invalid("step_id", text, EXPECTED);
    }
    return new StepRef(runId.get(), text.substring(RUN_ID_LENGTH + 1, at), attempt, epoch);
  }

  /** The step's name in the workflow code: {@code user} for {@code fetch[1]/user#2}. */
  public String name() {
    return SCOPE_OR_OCCURRENCE.matcher(stepKey).replaceAll("");
  }

  /** The text that {@link #parse} accepts. */
  @Override
  public String toString() {
    return runId + "/" + stepKey + "@" + attempt + "." + epoch;
  }

  // Accepts only what toString writes, without sign and leading zeros, so that each ref has one
  // text.
  private static int number(String text, int from, int to) {
    boolean padded = to - from > 1 && text.charAt(from) == '0';
    if (from >= to || to - from > 10 || padded) {
      return -1;
    }
    long value = 0;
    for (int i = from; i < to; i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      value = value * 10 + digit;
    }
    return value > Integer.MAX_VALUE ? -1 : (int) value;
  }
}
