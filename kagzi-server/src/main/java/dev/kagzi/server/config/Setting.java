package dev.kagzi.server.config;

/**
 * The value of an option.
 *
 * @param text as it was written; empty for none
 * @param where the flag, variable or file; empty for a default
 */
public record Setting(String text, Source source, String where) {
  /** The sources of a value, highest precedence first. */
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
