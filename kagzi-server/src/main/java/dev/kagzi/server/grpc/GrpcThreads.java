package dev.kagzi.server.grpc;

import dev.kagzi.engine.thread.EssentialThreads;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;

/** The platform threads of the gRPC server. */
final class GrpcThreads implements AutoCloseable {
  private static final int SENDERS_MAX = 4;

  private final ThreadPoolExecutor senders;
  private final ThreadPoolExecutor inProcess;
  private final ScheduledThreadPoolExecutor timer;
  private final EventLoops eventLoops;

  GrpcThreads(EssentialThreads threads) {
    int count = Math.clamp(Runtime.getRuntime().availableProcessors() / 2, 1, SENDERS_MAX);
    // A stream is in this queue at most once, so the number of streams bounds it. After the pool's
    // end there are no streams.
    this.senders = threads.pool("kagzi-sender", count);
    // Handlers do not block; the callers' flow control bounds this queue.
    this.inProcess = threads.pool("kagzi-in-process", count);
    this.timer = threads.timer("kagzi-edge-timer");
    this.eventLoops = new EventLoops(threads);
  }

  ExecutorService senders() {
    return senders;
  }

  /** Runs calls from this process, so that they do not run on their callers' threads. */
  ExecutorService inProcess() {
    return inProcess;
  }

  ScheduledExecutorService timer() {
    return timer;
  }

  /** Runs calls from the network. */
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
