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
 * Creates the threads without which a server does not work, and reports the first one that ends. A
 * server without its writer or listener would accept calls and do nothing: it must be closed.
 * Thread-safe.
 *
 * <p>A loop fails when it returns or throws. A task of a timer or pool fails when it throws an
 * {@link Error}. A periodic task also fails when it throws an exception, because it is not executed
 * again. Other exceptions of submitted tasks are logged; the JVM prints those of executed tasks.
 * After {@link #close} threads may end, and a loop whose owner is closed may return.
 */
public final class EssentialThreads implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(EssentialThreads.class);

  // Created in advance: after an OutOfMemoryError there may be no memory for it.
  private final ThreadFailure noMemory =
      new ThreadFailure("of the engine", new OutOfMemoryError("none left to report the failure"));

  private @Nullable ThreadFailure failure;
  private @Nullable Consumer<ThreadFailure> owner;
  private volatile boolean closed;

  /** Creates a thread for a loop that runs until this object is closed. The caller starts it. */
  public Thread loop(String name, Runnable loop) {
    return loop(name, loop, () -> false);
  }

  /**
   * Like {@link #loop(String, Runnable)}, for an owner that may close before this object: the loop
   * may return when {@code ownerClosed} is true. An exception is a failure in any case.
   */
  public Thread loop(String name, Runnable loop, BooleanSupplier ownerClosed) {
    return Thread.ofPlatform().name(name).unstarted(guarded(name, loop, ownerClosed));
  }

  /** Wraps a loop so that its end is reported; for threads that the caller creates. */
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

  /** Creates a pool with this number of threads. Tasks submitted after shutdown are discarded. */
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
      // The JVM prints what a pool's thread throws, but not what a future stores.
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

  /** Reports a failure. Public for fatal errors of threads that this class did not create. */
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

  /** Sets the callback for the first failure, called at once if there was one. Call once. */
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

  public synchronized Optional<ThreadFailure> failure() {
    return Optional.ofNullable(failure);
  }

  @Override
  public void close() {
    closed = true;
  }
}
