package dev.kagzi.sdk.internal.log;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Logs events of the SDK, one line each: what happened, then its ids as {@code name=value}.
 *
 * <p>The ids are part of the message. As key-values of slf4j they would be missing under the
 * default pattern of Spring Boot, and with both, slf4j-simple and the default pattern of Logback
 * would print them twice. Thread-safe.
 */
public final class EventLog {
  private static final Pattern NEEDS_QUOTES = Pattern.compile("[\\s\"=]|^$");
  private static final Pattern LINE_BREAKS = Pattern.compile("\\R+");

  private final Logger logger;

  private EventLog(Logger logger) {
    this.logger = logger;
  }

  /** The log of a class, by its name. */
  public static EventLog of(Class<?> owner) {
    return new EventLog(LoggerFactory.getLogger(owner));
  }

  public Event error(String what) {
    return new Event(Level.ERROR, what);
  }

  public Event warn(String what) {
    return new Event(Level.WARN, what);
  }

  public Event info(String what) {
    return new Event(Level.INFO, what);
  }

  public Event debug(String what) {
    return new Event(Level.DEBUG, what);
  }

  /** One line that is being put together; nothing is logged before {@link #write}. */
  public final class Event {
    private final Level level;
    private final StringBuilder text;
    private @Nullable Throwable cause;

    private Event(Level level, String what) {
      this.level = level;
      this.text = new StringBuilder(what);
    }

    /** Adds {@code name=value}; a value with spaces is quoted, and line breaks become spaces. */
    public Event with(String name, @Nullable Object value) {
      String line = LINE_BREAKS.matcher(String.valueOf(value)).replaceAll(" ");
      text.append(' ').append(name).append('=');
      if (NEEDS_QUOTES.matcher(line).find()) {
        text.append('"').append(line.replace("\"", "\\\"")).append('"');
      } else {
        text.append(line);
      }
      return this;
    }

    /** Attaches the exception, which the log shows with its stack. */
    public Event cause(@Nullable Throwable thrown) {
      cause = thrown;
      return this;
    }

    public void write() {
      try {
        logger.atLevel(level).setCause(cause).log(text.toString());
      } catch (Throwable e) {
        // An exception is user code too: it may fail to say what it is.
        logger.atLevel(level).log(text + " (its exception cannot be shown: " + e.getClass() + ")");
      }
    }
  }
}
