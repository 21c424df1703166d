package dev.kagzi.sdk.internal.run;

/**
 * Which names are allowed. The server has the same rules; here they fail before anything is sent.
 */
public final class Names {
  static final int LENGTH_MAX = 200;

  private Names() {}

  /** Returns the name, or says what is wrong with it. */
  public static String check(String what, String name) {
    if (name.isBlank()) {
      throw new IllegalArgumentException(what + ": \"" + name + "\" (expected: not blank)");
    }
    if (name.length() > LENGTH_MAX) {
      throw new IllegalArgumentException(
          "%s: \"%s...\" with %d characters (expected: at most %d)"
              .formatted(what, name.substring(0, 40), name.length(), LENGTH_MAX));
    }
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (Character.isISOControl(c)) {
        throw new IllegalArgumentException(
            "%s: control character U+%04X at position %d (expected: none)"
                .formatted(what, (int) c, i));
      }
    }
    return name;
  }

  /** A step's name is part of a key in which some characters have a meaning. */
  static String checkStep(String name) {
    check("step name", name);
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (c == '#' || c == '/' || c == '@') {
        throw new IllegalArgumentException(
            "step name: \"%s\" contains '%c' (expected: none of # / @)".formatted(name, c));
      }
    }
    return name;
  }
}
