package dev.kagzi.engine;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jspecify.annotations.NullMarked;
import org.slf4j.LoggerFactory;

/** Captures log lines of this JVM from INFO up: level, message and fields on one line. */
@NullMarked
public final class CapturedLog extends AppenderBase<ILoggingEvent> implements AutoCloseable {
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Logger logger;

  private CapturedLog(Class<?> from) {
    this.logger = (Logger) LoggerFactory.getLogger(from);
  }

  /** Captures only the logger of this class. */
  public static CapturedLog of(Class<?> from) {
    CapturedLog log = new CapturedLog(from);
    log.start();
    log.logger.addAppender(log);
    return log;
  }

  @Override
  protected void append(ILoggingEvent event) {
    if (event.getLevel().isGreaterOrEqual(Level.INFO)) {
      List<org.slf4j.event.KeyValuePair> pairs = event.getKeyValuePairs();
      String fields =
          pairs == null
              ? ""
              : pairs.stream().map(p -> " " + p.key + "=" + p.value).collect(Collectors.joining());
      lines.add(event.getLevel() + " " + event.getFormattedMessage() + fields);
    }
  }

  public List<String> lines() {
    return List.copyOf(lines);
  }

  @Override
  public void close() {
    logger.detachAppender(this);
  }
}
