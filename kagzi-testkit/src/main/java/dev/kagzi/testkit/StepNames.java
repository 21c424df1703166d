package dev.kagzi.testkit;

import java.util.regex.Pattern;

/** Compares step names of workflow code with recorded step keys. */
final class StepNames {
  private static final Pattern SCOPE_OR_OCCURRENCE =
      Pattern.compile("^(?:[^/]*\\[[^\\]/]+]/)+|#[0-9]+$");

  private StepNames() {}

  /** Returns whether the text is this step's key, or its name without scope and occurrence. */
  static boolean matches(String nameOrKey, String key) {
    return key.equals(nameOrKey)
        || SCOPE_OR_OCCURRENCE.matcher(key).replaceAll("").equals(nameOrKey);
  }
}
