package dev.kagzi.cli;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.slf4j.bridge.SLF4JBridgeHandler;

/** Brings the logs of libraries to where ours go. */
final class Logs {
  /** Held, since java.util.logging forgets loggers that nobody holds. */
  private static final Logger GRPC = Logger.getLogger("io.grpc");

  private Logs() {}

  /** For commands that say in one line what went wrong. */
  static void silence() {
    GRPC.setLevel(Level.OFF);
  }

  /** gRPC logs by java.util.logging. */
  static void bridge() {
    SLF4JBridgeHandler.removeHandlersForRootLogger();
    SLF4JBridgeHandler.install();
  }
}
