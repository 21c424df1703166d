package dev.kagzi.server.grpc;

import dev.kagzi.engine.thread.EssentialThreads;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;

/** The platform threads of one edge. */
final class GrpcThreads implements AutoCloseable {
  private static final int SENDERS_MAX = 4;

  private final ThreadPoolExecutor senders;
  private final ThreadPoolExecutor inProcess;
  private final ScheduledThreadPoolExecutor timer;
  private final EventLoops eventLoops;

  GrpcThreads(EssentialThreads threads) {
    int count = Math.clamp(Runtime.getRuntime().availableProcessors() / 2, 1, SENDERS_MAX);
    // A stream stands in this queue at most once, so the streams bound it. What comes after the
    // end has no stream left to go to.
    this.senders = threads.pool("kagzi-sender", count);
    // Handlers do not block; the callers' own flow control bounds what waits here.
    this.inProcess = threads.pool("kagzi-in-process", count);
    this.timer = threads.timer("kagzi-edge-timer");
    this.eventLoops = new EventLoops(threads);
  }

  ExecutorService senders() {
    return senders;
  }

  /** For calls that come from this process, off the threads of their callers. */
  ExecutorService inProcess() {
    return inProcess;
  }

  ScheduledExecutorService timer() {
    return timer;
  }

  /** For calls that come over the network. */
  EventLoops eventLoops() {
    return eventLoops;
  }

  @Override
  public void close() {
    timer.shutdownNow();
    senders.shutdown();
    inProcess.shutdown();
    eventLoops.close();
  }
}
