package dev.kagzi.testkit;

import java.util.regex.Pattern;

/** Names of steps as workflows' code says them, and keys as they are recorded. */
final class StepNames {
  private static final Pattern SCOPE_OR_OCCURRENCE =
      Pattern.compile("^(?:[^/]*\\[[^\\]/]+]/)+|#[0-9]+$");

  private StepNames() {}

  /** Whether a test means this step: by its key, or by the name that it shares with others. */
  static boolean isMeant(String nameOrKey, String key) {
    return key.equals(nameOrKey)
        || SCOPE_OR_OCCURRENCE.matcher(key).replaceAll("").equals(nameOrKey);
  }
}
