package dev.kagzi.server.grpc;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** The platform threads of one edge. */
final class EdgeThreads implements AutoCloseable {
  private static final int SENDERS_MAX = 4;

  private final ThreadPoolExecutor senders;
  private final ThreadPoolExecutor inProcess;
  private final ScheduledThreadPoolExecutor timer;

  EdgeThreads() {
    int count = Math.clamp(Runtime.getRuntime().availableProcessors() / 2, 1, SENDERS_MAX);
    // A stream stands in this queue at most once, so the streams bound it. What comes after the
    // end has no stream left to go to.
    this.senders =
        new ThreadPoolExecutor(
            count,
            count,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            named("kagzi-sender-"),
            new ThreadPoolExecutor.DiscardPolicy());
    // Handlers do not block; the callers' own flow control bounds what waits here.
    this.inProcess =
        new ThreadPoolExecutor(
            count,
            count,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            named("kagzi-in-process-"),
            new ThreadPoolExecutor.DiscardPolicy());
    this.timer =
        new ScheduledThreadPoolExecutor(
            1, named("kagzi-edge-timer-"), new ThreadPoolExecutor.DiscardPolicy());
    timer.setRemoveOnCancelPolicy(true);
  }

  private static ThreadFactory named(String prefix) {
    return Thread.ofPlatform().daemon().name(prefix, 0).factory();
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

  @Override
  public void close() {
    timer.shutdownNow();
    senders.shutdown();
    inProcess.shutdown();
  }
}
