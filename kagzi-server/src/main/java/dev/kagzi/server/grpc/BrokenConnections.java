package dev.kagzi.server.grpc;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps gRPC from logging a stack trace for each answer that a client no longer takes. Clients are
 * killed, and workers come back from a pause to a connection that was closed meanwhile: that is one
 * line, at most one a second, and says nothing about this server.
 */
final class BrokenConnections {
  private static final org.slf4j.Logger log = LoggerFactory.getLogger(BrokenConnections.class);
  private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);

  // Held here: the log manager holds its loggers weakly, and would forget the filter.
  private static final Logger GRPC =
      Logger.getLogger("io.grpc.netty.shaded.io.grpc.netty.NettyServerHandler");

  private static final AtomicLong lastLine = new AtomicLong(System.nanoTime() - QUIET_NANOS);

  private BrokenConnections() {}

  /** From now on; again does no harm. */
  static void logBriefly() {
    GRPC.setFilter(BrokenConnections::isSomethingElse);
  }

  private static boolean isSomethingElse(LogRecord record) {
    Throwable thrown = record.getThrown();
    if (thrown == null || !String.valueOf(thrown.getMessage()).startsWith("Stream closed before")) {
      return true;
    }
    long now = System.nanoTime();
    long before = lastLine.get();
    if (now - before >= QUIET_NANOS && lastLine.compareAndSet(before, now)) {
      log.atInfo().log("a client went away before it had its answers");
    }
    return false;
  }
}
