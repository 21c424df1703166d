package dev.kagzi.engine.internal.chore;

import dev.kagzi.engine.internal.db.DatabaseFailureLog;
import dev.kagzi.engine.internal.schedule.ScheduleFirer;
import dev.kagzi.engine.thread.EssentialThreads;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls {@link ScheduleFirer} on its own thread when a schedule is due. It knows when the next one
 * is due from its last query, from schedules saved on this server, and from the server heartbeat.
 * Without schedules it sends no queries. A second thread helps when many schedules are due at once.
 * Thread-safe.
 */
public final class ScheduleTimer implements Chore, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(ScheduleTimer.class);
  private static final long NEVER = Long.MAX_VALUE;
  private static final long DAY_MS = TimeUnit.DAYS.toMillis(1);
  private static final Duration CLOSE_MAX = Duration.ofSeconds(5);

  private final ServerHeartbeat heartbeat;
  private final ScheduleFirer firer;
  private final long intervalMs;
  private final long zeroNanos = System.nanoTime();
  private final AtomicLong nextNanos = new AtomicLong(NEVER);

  /** Gets a permit when {@link #nextNanos} or {@link #closed} has changed. */
  private final Semaphore changed = new Semaphore(0);

  private final Thread thread;
  private final Thread helper;
  private final Semaphore helpNeeded = new Semaphore(0);
  private ServerHeartbeat.@Nullable PendingWork lastPending;
  private final AtomicBoolean bufferedSlotsPending = new AtomicBoolean();
  private volatile boolean closed;

  public ScheduleTimer(
      ServerHeartbeat heartbeat, ScheduleFirer firer, Duration interval, EssentialThreads threads) {
    this.heartbeat = heartbeat;
    this.firer = firer;
    this.intervalMs = interval.toMillis();
    this.thread = threads.loop("kagzi-schedules", this::loop);
    this.helper = threads.loop("kagzi-schedules-2", this::help);
  }

  public void start() {
    thread.start();
    helper.start();
  }

  @Override
  public void run() {
    ServerHeartbeat.PendingWork pending = heartbeat.pendingWork();
    if (!pending.equals(lastPending)) {
      lastPending = pending;
      if (pending.buffered()) {
        bufferedSlotsPending.set(true);
        dueIn(0);
      }
      if (pending.schedulesInMs() != null) {
        dueIn(pending.schedulesInMs());
      }
    }
  }

  public void dueIn(long delayMs) {
    // At most one day ahead: a delay of centuries would overflow a long of nanoseconds.
    long delayNanos = TimeUnit.MILLISECONDS.toNanos(Math.clamp(delayMs, 0, DAY_MS));
    nextNanos.accumulateAndGet(sinceZero() + delayNanos, Math::min);
    changed.release();
  }

  private void loop() {
    try {
      while (awaitDue()) {
        fireDue();
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
    firer.close();
  }

  private void fireDue() {
    try {
      if (bufferedSlotsPending.getAndSet(false)) {
        firer.startOverdueBuffered();
      }
      Long nextMs = firer.fireDue(helpNeeded::release);
      if (nextMs != null) {
        dueIn(nextMs);
      }
    } catch (RuntimeException e) {
      if (!DatabaseFailureLog.isLogged(e)) {
        log.atWarn()
            .addKeyValue("cause", e.getMessage())
            .log("schedules were not fired, trying again");
      }
      dueIn(intervalMs);
    }
  }

  /** A second session lets PostgreSQL use a second core. */
  private void help() {
    try (ScheduleFirer second = firer.helper()) {
      while (true) {
        helpNeeded.acquire();
        helpNeeded.drainPermits();
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

  private boolean awaitDue() throws InterruptedException {
    while (!closed && sinceZero() < nextNanos.get()) {
      changed.tryAcquire(nextNanos.get() - sinceZero(), TimeUnit.NANOSECONDS);
      changed.drainPermits();
    }
    nextNanos.set(NEVER);
    return !closed;
  }

  private long sinceZero() {
    return System.nanoTime() - zeroNanos;
  }

  /** Waits for the current batch of each thread, at most {@link #CLOSE_MAX}. */
  @Override
  public void close() {
    closed = true;
    changed.release();
    firer.stop();
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
