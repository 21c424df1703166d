package dev.kagzi.server.web.page;

/** A message that the page after an action shows once. */
public record Flash(boolean isError, String text) {
  public static final Flash NONE = new Flash(false, "");

  public static Flash done(String text) {
    return new Flash(false, text);
  }

  public static Flash error(String text) {
    return new Flash(true, text);
  }

  public boolean isEmpty() {
    return text.isEmpty();
  }
}
