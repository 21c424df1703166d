package dev.kagzi.cli;

import org.slf4j.bridge.SLF4JBridgeHandler;

/** Brings the logs of libraries to where ours go. */
final class Logs {
  private Logs() {}

  /** gRPC logs by java.util.logging. */
  static void bridge() {
    SLF4JBridgeHandler.removeHandlersForRootLogger();
    SLF4JBridgeHandler.install();
  }
}
