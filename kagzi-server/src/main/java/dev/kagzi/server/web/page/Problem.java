package dev.kagzi.server.web.page;

import dev.kagzi.engine.value.Refusal;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Why a form was refused. The page shows the form again, with the values that were sent and the
 * problem beside the field.
 *
 * @param field the name of the field that is wrong; empty if it is none of them
 * @param message what is wrong, without the field's name; empty for no problem
 */
public record Problem(String field, String message) {
  public static final Problem NONE = new Problem("", "");

  // Refusals begin with the name of a field of the protocol, and forms use the same names.
  private static final Pattern FIELD = Pattern.compile("([a-z_.]+): (.*)", Pattern.DOTALL);

  /** Finds the field in the message of a refusal. */
  public static Problem of(Refusal refusal) {
    String message = String.valueOf(refusal.getMessage());
    Matcher matcher = FIELD.matcher(message);
    if (!matcher.matches()) {
      return new Problem("", message);
    }
    String rest = matcher.group(2);
    return new Problem(
        matcher.group(1).replace("retry_policy.", "").replaceAll("_ms$", ""),
        rest.startsWith("\"\" (") ? "empty" + rest.substring(2) : rest);
  }

  public boolean isEmpty() {
    return message.isEmpty();
  }

  /** Returns whether the field is the one that is wrong. */
  public boolean isOf(String name) {
    return !isEmpty() && field.equals(name);
  }

  /** Returns the problem with the name of its field, for the top of the page. */
  public String text() {
    return field.isEmpty() ? message : field.replace('_', ' ') + ": " + message;
  }
}
