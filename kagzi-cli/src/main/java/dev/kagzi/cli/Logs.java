package dev.kagzi.cli;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import java.util.logging.Level;
import org.slf4j.LoggerFactory;
import org.slf4j.bridge.SLF4JBridgeHandler;

/** Configures the log of this process; routes gRPC's logs to SLF4J, or turns them off. */
final class Logs {
  /** The appender of {@code logback.xml}. */
  private static final String APPENDER = "STDERR";

  /** A strong reference, since java.util.logging holds loggers weakly. */
  private static final java.util.logging.Logger GRPC =
      java.util.logging.Logger.getLogger("io.grpc");

  private Logs() {}

  /** Sets the level and the format ({@code text} or {@code json}) of the log. */
  static void configure(String level, String format) {
    if (LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME) instanceof Logger root) {
      root.setLevel(ch.qos.logback.classic.Level.valueOf(level));
      if (format.equals("json")
          && root.getAppender(APPENDER) instanceof OutputStreamAppender<ILoggingEvent> appender) {
        JsonLogEncoder encoder = new JsonLogEncoder();
        encoder.setContext(root.getLoggerContext());
        encoder.start();
        appender.setEncoder(encoder);
      }
    }
  }

  /** Turns gRPC's logs off, for commands that report errors in one line. */
  static void silence() {
    GRPC.setLevel(Level.OFF);
  }

  /** Routes java.util.logging, which gRPC uses, to SLF4J. */
  static void bridge() {
    SLF4JBridgeHandler.removeHandlersForRootLogger();
    SLF4JBridgeHandler.install();
  }
}
