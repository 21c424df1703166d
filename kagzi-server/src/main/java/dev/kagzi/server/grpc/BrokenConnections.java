package dev.kagzi.server.grpc;

import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps gRPC from logging a stack trace for each answer that a client no longer takes. Clients are
 * killed, workers come back from a pause to a connection that was closed meanwhile, and callers
 * cancel while their answer waits for room in the window. That is no fault of this server, and
 * callers may do it all day: it is logged at DEBUG only.
 */
final class BrokenConnections {
  private static final org.slf4j.Logger log = LoggerFactory.getLogger(BrokenConnections.class);

  // Held here: the log manager holds its loggers weakly, and would forget the filter.
  private static final Logger GRPC =
      Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty.NettyServerHandler");

  private BrokenConnections() {}

  /** From now on; again does no harm. */
  static void logBriefly() {
    GRPC.setFilter(BrokenConnections::isSomethingElse);
  }

  private static boolean isSomethingElse(LogRecord record) {
    Throwable thrown = record.getThrown();
    if (thrown == null || !isOfGoneCaller(String.valueOf(thrown.getMessage()))) {
      return true;
    }
    log.atDebug().log("a caller went away before it had its answer");
    return false;
  }

  /** Netty has no other sign of these two: an unsent answer, and a call after the GOAWAY. */
  private static boolean isOfGoneCaller(String message) {
    return message.startsWith("Stream closed before")
        || (message.startsWith("Cannot create stream") && message.endsWith("from GOAWAY."));
  }
}
