package dev.kagzi.sdk.internal.run;

import dev.kagzi.sdk.InvalidArgumentException;

/**
 * Checks names by the rules of the server, so that an invalid name fails before anything is sent.
 */
public final class NameRules {
  static final int LENGTH_MAX = 200;

  private NameRules() {}

  /** Returns the name; throws {@link InvalidArgumentException} if it is not allowed. */
  public static String check(String what, String name) {
    if (name.isBlank()) {
      throw invalid(what + ": \"" + name + "\" (expected: not blank)");
    }
    if (name.length() > LENGTH_MAX) {
      throw invalid(
          "%s: \"%s...\" with %d characters (expected: at most %d)"
              .formatted(what, name.substring(0, 40), name.length(), LENGTH_MAX));
    }
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (Character.isISOControl(c)) {
        throw invalid(
            "%s: control character U+%04X at position %d (expected: none)"
                .formatted(what, (int) c, i));
      }
    }
    return name;
  }

  /**
   * Checks the name of a signal, which is also the name of the steps that receive it. The prefix of
   * callbacks' answers is reserved.
   */
  public static String checkSignal(String name) {
    check("signal", name);
    checkSeparators("signal", name);
    if (name.startsWith(RunCallback.SIGNAL)) {
      throw invalid(
          "signal: \"%s\" (expected: not to begin with %s, which is for callbacks)"
              .formatted(name, RunCallback.SIGNAL));
    }
    return name;
  }

  /** Checks the name of a step. The rejected characters separate the parts of step keys. */
  static String checkStep(String name) {
    check("step name", name);
    checkSeparators("step name", name);
    return name;
  }

  private static void checkSeparators(String what, String name) {
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (c == '#' || c == '/' || c == '@') {
        throw invalid(
            "%s: \"%s\" contains '%c' (expected: none of # / @)".formatted(what, name, c));
      }
    }
  }

  /** Branch names stand in brackets in step keys, so they must not contain brackets. */
  public static String checkBranch(String name) {
    checkStep(name);
    if (name.indexOf('[') >= 0 || name.indexOf(']') >= 0) {
      throw invalid("branch name: \"%s\" (expected: without brackets)".formatted(name));
    }
    return name;
  }

  private static InvalidArgumentException invalid(String message) {
    return new InvalidArgumentException("INVALID_NAME", message);
  }
}
