package dev.kagzi.cli;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.slf4j.bridge.SLF4JBridgeHandler;

/** Routes the logs of libraries to SLF4J. */
final class Logs {
  /** A strong reference, since java.util.logging holds loggers weakly. */
  private static final Logger GRPC = Logger.getLogger("io.grpc");

  private Logs() {}

  /** Turns logs off, for commands that report errors in one line. */
  static void silence() {
    GRPC.setLevel(Level.OFF);
  }

  /** gRPC logs with java.util.logging. */
  static void bridge() {
    SLF4JBridgeHandler.removeHandlersForRootLogger();
    SLF4JBridgeHandler.install();
  }
}
