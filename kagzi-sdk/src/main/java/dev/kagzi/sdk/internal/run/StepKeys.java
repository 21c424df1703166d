package dev.kagzi.sdk.internal.run;

import java.util.HashMap;
import java.util.Map;

/**
 * Builds step keys from name and occurrence: {@code charge}, {@code charge#2}. The same calls in
 * the same order give the same keys, which find the steps in the history. Not thread-safe.
 */
final class StepKeys {
  private final Map<String, Integer> seen = new HashMap<>();

  String next(String name) {
    // A name that was used before is already checked.
    Integer before = seen.get(name);
    if (before == null) {
      seen.put(NameRules.checkStep(name), 1);
      return name;
    }
    int occurrence = before + 1;
    seen.put(name, occurrence);
    return name + "#" + occurrence;
  }
}
