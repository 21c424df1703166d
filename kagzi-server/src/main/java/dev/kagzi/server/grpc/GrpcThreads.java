package dev.kagzi.server.grpc;

import dev.kagzi.engine.thread.EssentialThreads;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;

/**
 * The platform threads of the gRPC server.
 *
 * @param inProcess runs calls from this process, so that they do not run on their callers' threads
 * @param eventLoops runs calls from the network
 */
record GrpcThreads(
    ExecutorService senders,
    ExecutorService inProcess,
    ScheduledExecutorService timer,
    EventLoops eventLoops)
    implements AutoCloseable {
  private static final int SENDERS_MAX = 4;

  static GrpcThreads start(EssentialThreads threads) {
    int count = Math.clamp(Runtime.getRuntime().availableProcessors() / 2, 1, SENDERS_MAX);
    return new GrpcThreads(
        // A call is in this queue at most once, so the number of open calls bounds it. After its
        // shutdown no call is open, so the pool may discard tasks.
        threads.pool("kagzi-sender", count),
        // Handlers do not block; the callers' flow control bounds this queue.
        threads.pool("kagzi-in-process", count),
        threads.timer("kagzi-edge-timer"),
        new EventLoops(threads));
  }

  @Override
  public void close() {
    timer.shutdownNow();
    senders.shutdown();
    inProcess.shutdown();
    eventLoops.close();
  }
}
