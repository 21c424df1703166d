package dev.kagzi.server.grpc;

import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps gRPC from logging a stack trace for each response that a client no longer takes. Clients
 * are killed, connections time out while a worker is paused, and callers cancel while their
 * response waits for flow control. These are not errors of this server, so they are logged at DEBUG
 * only.
 */
final class DisconnectLogFilter {
  private static final org.slf4j.Logger log = LoggerFactory.getLogger(DisconnectLogFilter.class);

  // A strong reference: the log manager holds loggers weakly, and the filter would be lost.
  private static final Logger GRPC =
      Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty.NettyServerHandler");

  private DisconnectLogFilter() {}

  /** Installs the filter. Repeated calls have no further effect. */
  static void logBriefly() {
    GRPC.setFilter(DisconnectLogFilter::isSomethingElse);
  }

  private static boolean isSomethingElse(LogRecord record) {
    Throwable thrown = record.getThrown();
    if (thrown == null || !isOfGoneCaller(String.valueOf(thrown.getMessage()))) {
      return true;
    }
    log.atDebug().log("a caller went away before it had its answer");
    return false;
  }

  /**
   * Recognizes two cases by their messages, because Netty marks them in no other way: a response
   * that was not sent, and a call after the GOAWAY.
   */
  private static boolean isOfGoneCaller(String message) {
    return message.startsWith("Stream closed before")
        || (message.startsWith("Cannot create stream") && message.endsWith("from GOAWAY."));
  }
}
