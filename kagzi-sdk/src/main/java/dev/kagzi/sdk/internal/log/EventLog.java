package dev.kagzi.sdk.internal.log;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Logs events of the SDK, one line each: what happened, then its ids as {@code name=value}.
 *
 * <p>The ids are part of the message. As slf4j key-values they would be missing in the default
 * pattern of Spring Boot. With both, slf4j-simple and Logback's default pattern would print them
 * twice. Thread-safe.
 */
public final class EventLog {
  private static final Pattern NEEDS_QUOTES = Pattern.compile("[\\s\"=]|^$");
  private static final Pattern LINE_BREAKS = Pattern.compile("\\R+");

  private final Logger logger;

  private EventLog(Logger logger) {
    this.logger = logger;
  }

  public static EventLog of(Class<?> owner) {
    return new EventLog(LoggerFactory.getLogger(owner));
  }

  public Event error(String message) {
    return new Event(Level.ERROR, message);
  }

  public Event warn(String message) {
    return new Event(Level.WARN, message);
  }

  public Event info(String message) {
    return new Event(Level.INFO, message);
  }

  public Event debug(String message) {
    return new Event(Level.DEBUG, message);
  }

  public final class Event {
    private final Level level;
    private final StringBuilder text;
    private @Nullable Throwable cause;

    private Event(Level level, String message) {
      this.level = level;
      this.text = new StringBuilder(message);
    }

    /** Adds the ids of an execution; nothing if there is none. */
    public Event about(@Nullable LoggedRun run) {
      if (run == null) {
        return this;
      }
      with("run", run.run());
      if (!run.workflowId().isEmpty()) {
        with("workflow_id", run.workflowId());
      }
      with("type", run.type()).with("queue", run.queue());
      if (!run.worker().isEmpty()) {
        with("worker", run.worker());
      }
      if (!run.traceId().isEmpty()) {
        with("trace_id", run.traceId());
      }
      return this;
    }

    /** Adds {@code name=value}. Values with spaces are quoted, and line breaks become spaces. */
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

    public Event cause(@Nullable Throwable thrown) {
      cause = thrown;
      return this;
    }

    public void write() {
      try {
        logger.atLevel(level).setCause(cause).log(text.toString());
      } catch (Throwable e) {
        writeWithoutCause(e.getClass());
      }
    }

    /** An exception may be user code whose getMessage() or toString() throws. */
    private void writeWithoutCause(Class<?> thrown) {
      try {
        logger.atLevel(level).log(text + " (its exception cannot be logged: " + thrown + ")");
      } catch (Throwable e) {
        // The application's logging throws. Work must not stop because it cannot be logged.
      }
    }
  }
}
