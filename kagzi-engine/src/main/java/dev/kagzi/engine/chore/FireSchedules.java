package dev.kagzi.engine.chore;

import dev.kagzi.engine.db.DatabaseFailureLog;
import dev.kagzi.engine.schedule.ScheduleFirer;
import dev.kagzi.engine.thread.EssentialThreads;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fires schedules on time, on a thread of its own. It knows when the next one is due, from what it
 * found last, from schedules that are saved on this server, and from the pulse: without schedules
 * it asks nothing. When very many are due at once a second thread helps. Thread-safe.
 */
public final class FireSchedules implements Chore, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(FireSchedules.class);
  private static final long NEVER = Long.MAX_VALUE;
  private static final long DAY_MS = TimeUnit.DAYS.toMillis(1);
  private static final Duration CLOSE_MAX = Duration.ofSeconds(5);

  private final ServerHeartbeat pulse;
  private final ScheduleFirer firing;
  private final long intervalMs;
  private final long zeroNanos = System.nanoTime();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Thread thread;
  private final Thread helper;
  private final Semaphore crowd = new Semaphore(0);
  private ServerHeartbeat.@Nullable Reading seen;
  private long nextNanos = NEVER;
  private boolean lookForForgotten;
  private boolean closed;

  public FireSchedules(
      ServerHeartbeat pulse, ScheduleFirer firing, Duration interval, EssentialThreads threads) {
    this.pulse = pulse;
    this.firing = firing;
    this.intervalMs = interval.toMillis();
    this.thread = threads.loop("kagzi-schedules", this::fire);
    this.helper = threads.loop("kagzi-schedules-2", this::help);
  }

  public void start() {
    thread.start();
    helper.start();
  }

  /** Hears what the pulse has found. */
  @Override
  public void run() {
    ServerHeartbeat.Reading reading = pulse.last();
    if (!reading.equals(seen)) {
      seen = reading;
      if (reading.buffered()) {
        lock.lock();
        try {
          lookForForgotten = true;
        } finally {
          lock.unlock();
        }
        dueIn(0);
      }
      if (reading.schedulesInMs() != null) {
        dueIn(reading.schedulesInMs());
      }
    }
  }

  /** A schedule is due after so many milliseconds. */
  public void dueIn(long delayMs) {
    // What is years away is looked for once a day: its nanoseconds would not fit.
    long delayNanos = TimeUnit.MILLISECONDS.toNanos(Math.clamp(delayMs, 0, DAY_MS));
    lock.lock();
    try {
      nextNanos = Math.min(nextNanos, sinceZero() + delayNanos);
      changed.signal();
    } finally {
      lock.unlock();
    }
  }

  private void fire() {
    try {
      while (awaitDue()) {
        tick();
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
    firing.close();
  }

  private void tick() {
    try {
      if (takeForgotten()) {
        firing.startForgotten();
      }
      Long nextMs = firing.tick(crowd::release);
      if (nextMs != null) {
        dueIn(nextMs);
      }
    } catch (RuntimeException e) {
      if (!DatabaseFailureLog.isLogged(e)) {
        log.atWarn()
            .addKeyValue("cause", e.getMessage())
            .log("schedules were not fired, it will be tried again");
      }
      dueIn(intervalMs);
    }
  }

  /** What one thread fires, the database writes on one core. */
  private void help() {
    try (ScheduleFirer second = firing.helper()) {
      while (true) {
        crowd.acquire();
        crowd.drainPermits();
        help(second);
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  private static void help(ScheduleFirer second) {
    try {
      second.help();
    } catch (RuntimeException e) {
      log.atDebug()
          .addKeyValue("cause", e.getMessage())
          .log("schedules were not fired by a helper");
    }
  }

  private boolean takeForgotten() {
    lock.lock();
    try {
      boolean look = lookForForgotten;
      lookForForgotten = false;
      return look;
    } finally {
      lock.unlock();
    }
  }

  private boolean awaitDue() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!closed && sinceZero() < nextNanos) {
        if (nextNanos == NEVER) {
          changed.await();
        } else {
          changed.awaitNanos(nextNanos - sinceZero());
        }
      }
      nextNanos = NEVER;
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  private long sinceZero() {
    return System.nanoTime() - zeroNanos;
  }

  /** Lets the batch that is under way end. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      changed.signal();
    } finally {
      lock.unlock();
    }
    firing.end();
    helper.interrupt();
    try {
      if (thread.isAlive() && !thread.join(CLOSE_MAX)) {
        thread.interrupt();
      }
      if (helper.isAlive()) {
        helper.join(CLOSE_MAX);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
