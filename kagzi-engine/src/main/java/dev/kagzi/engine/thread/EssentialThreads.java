package dev.kagzi.engine.thread;

import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts the threads without which a server does not work, and reports the first of them that ends.
 * A server that lives on without its writer or its listener accepts calls and does nothing: it is
 * better closed.
 *
 * <p>A loop fails when it returns or throws. A task of a timer or a pool fails when it throws an
 * {@link Error}, and a periodic one also by an exception, since it is not executed again. Any other
 * exception of a task is logged. After {@link #close} threads may end, and a loop whose own owner
 * is closed may return.
 *
 * <p>Thread-safe.
 */
public final class EssentialThreads implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(EssentialThreads.class);

  // Made beforehand: when memory has run out there may be none to report it.
  private final ThreadFailure noMemory =
      new ThreadFailure("of the engine", new OutOfMemoryError("none left to report the failure"));

  private @Nullable ThreadFailure failure;
  private @Nullable Consumer<ThreadFailure> owner;
  private volatile boolean closed;

  /** A thread for a loop that runs until its owner closes. It is not started yet. */
  public Thread loop(String name, Runnable loop) {
    return loop(name, loop, () -> false);
  }

  /**
   * The same for an owner that may close before this object does: the loop may return when {@code
   * ownerClosed} is true. What it throws is a failure in any case.
   */
  public Thread loop(String name, Runnable loop, BooleanSupplier ownerClosed) {
    return Thread.ofPlatform().name(name).unstarted(guarded(name, loop, ownerClosed));
  }

  /** The loop, reporting its end; for threads that somebody else starts. */
  public Runnable guarded(String name, Runnable loop) {
    return guarded(name, loop, () -> false);
  }

  private Runnable guarded(String name, Runnable loop, BooleanSupplier ownerClosed) {
    return () -> {
      try {
        loop.run();
      } catch (Throwable thrown) {
        failed(name, thrown);
        return;
      }
      if (!ownerClosed.getAsBoolean()) {
        failed(name, null);
      }
    };
  }

  /** A timer with one thread. */
  public ScheduledThreadPoolExecutor timer(String name) {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(
            1,
            work -> Thread.ofPlatform().daemon().name(name).unstarted(work),
            new ThreadPoolExecutor.DiscardPolicy()) {
          @Override
          protected void afterExecute(Runnable task, @Nullable Throwable thrown) {
            taskEnded(name, task, thrown);
          }
        };
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }

  /** A pool of so many threads. What comes after its end is discarded. */
  public ThreadPoolExecutor pool(String name, int threads) {
    return new ThreadPoolExecutor(
        threads,
        threads,
        0,
        TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(),
        Thread.ofPlatform().daemon().name(name + "-", 0).factory(),
        new ThreadPoolExecutor.DiscardPolicy()) {
      @Override
      protected void afterExecute(Runnable task, @Nullable Throwable thrown) {
        taskEnded(name, task, thrown);
      }
    };
  }

  private void taskEnded(String name, Runnable task, @Nullable Throwable thrown) {
    Throwable problem = thrown == null ? problemOf(task) : thrown;
    if (problem == null) {
      return;
    }
    boolean periodic = task instanceof RunnableScheduledFuture<?> timed && timed.isPeriodic();
    if (problem instanceof Error || periodic) {
      failed(name, problem);
    } else if (thrown == null) {
      // What a pool's thread throws is shown by the JVM; what a future keeps, by nobody.
      log.atError().setCause(problem).addKeyValue("thread", name).log("a task failed unexpectedly");
    }
  }

  private static @Nullable Throwable problemOf(Runnable task) {
    if (task instanceof Future<?> future && future.isDone()) {
      try {
        future.get();
      } catch (ExecutionException e) {
        return e.getCause();
      } catch (CancellationException ended) {
        return null;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    return null;
  }

  /**
   * Reports an error after which nothing can be relied on, seen on a thread that is not essential.
   */
  public void failed(String thread, @Nullable Throwable cause) {
    ThreadFailure first = failure(thread, cause);
    Consumer<ThreadFailure> called;
    synchronized (this) {
      if (closed || failure != null) {
        return;
      }
      failure = first;
      called = owner;
    }
    logFailure(first);
    if (called != null) {
      called.accept(first);
    }
  }

  private ThreadFailure failure(String thread, @Nullable Throwable cause) {
    try {
      return new ThreadFailure(thread, cause);
    } catch (OutOfMemoryError e) {
      return noMemory;
    }
  }

  private static void logFailure(ThreadFailure failure) {
    try {
      log.atError().setCause(failure).log("an essential thread ended, this server cannot go on");
    } catch (OutOfMemoryError noMemoryToLog) {
      // The owner must be called in any case.
    }
  }

  /** Names who is called by the first failure, at once if there was one. Once. */
  public void onFailure(Consumer<ThreadFailure> owner) {
    ThreadFailure before;
    synchronized (this) {
      this.owner = owner;
      before = closed ? null : failure;
    }
    if (before != null) {
      owner.accept(before);
    }
  }

  /** Why this engine cannot go on, or nothing. */
  public synchronized Optional<ThreadFailure> failure() {
    return Optional.ofNullable(failure);
  }

  /** From now on threads may end. */
  @Override
  public void close() {
    closed = true;
  }
}
