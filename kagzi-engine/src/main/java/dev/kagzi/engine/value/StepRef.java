package dev.kagzi.engine.value;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Identifies one attempt of a step and its claim. Clients receive it as an opaque text and send it
 * back, so that their reports are fenced although they send no epochs.
 */
public record StepRef(RunId runId, String stepKey, int attempt, int epoch) {
  // Numbers without sign and leading zeros, so that each ref has one text.
  private static final Pattern TEXT =
      Pattern.compile("(?s)(.{36})/(.+)@([1-9][0-9]{0,9})\\.([1-9][0-9]{0,9})");
  private static final Pattern SCOPE_OR_OCCURRENCE =
      Pattern.compile("^(?:[^/]*\\[[^\\]/]+]/)+|#[0-9]+$");

  /** Parses the text of {@link #toString}. The step key may contain any of the separators. */
  public static StepRef parse(String text) {
    Matcher parts = TEXT.matcher(text);
    if (parts.matches()) {
      Optional<RunId> runId = RunId.parse(parts.group(1));
      long attempt = Long.parseLong(parts.group(3));
      long epoch = Long.parseLong(parts.group(4));
      if (runId.isPresent() && Math.max(attempt, epoch) <= Integer.MAX_VALUE) {
        return new StepRef(runId.get(), parts.group(2), (int) attempt, (int) epoch);
      }
    }
    throw Refusal.invalid("step_id", text, "a step id that the server returned");
  }

  /** The step's name in the workflow code: {@code user} for {@code fetch[1]/user#2}. */
  public String name() {
    return SCOPE_OR_OCCURRENCE.matcher(stepKey).replaceAll("");
  }

  @Override
  public String toString() {
    return runId + "/" + stepKey + "@" + attempt + "." + epoch;
  }
}
