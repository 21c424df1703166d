package dev.kagzi.cli;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.slf4j.bridge.SLF4JBridgeHandler;

/** Routes gRPC's logs to SLF4J, or turns them off. */
final class Logs {
  /** A strong reference, since java.util.logging holds loggers weakly. */
  private static final Logger GRPC = Logger.getLogger("io.grpc");

  private Logs() {}

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
