package dev.kagzi.server.config;

/**
 * The value of an option.
 *
 * @param text as it was written; empty for none
 * @param source who said so
 * @param where exactly: a flag, a variable, a file; empty for a default
 */
public record Setting(String text, Source source, String where) {
  /** Who may say what an option is, the first of them first. */
  public enum Source {
    FLAG,
    ENV,
    FILE,
    DEFAULT
  }

  @Override
  public String toString() {
    return "Setting[" + source + " " + where + "]";
  }
}
