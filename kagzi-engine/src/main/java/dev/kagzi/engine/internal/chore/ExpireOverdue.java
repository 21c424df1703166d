package dev.kagzi.engine.internal.chore;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.run.OverdueRuns;
import dev.kagzi.engine.internal.step.OverdueSteps;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepRef;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Ends runs and attempts of steps whose timeout has passed. It queries the database only when a
 * timeout is due. It knows the next one from events of this server, and from the server heartbeat,
 * which reads the earliest timeout in the database.
 */
public final class ExpireOverdue implements Chore {
  private static final int MAX = 500;
  private static final long NEVER = Long.MAX_VALUE;
  private static final long DAY_MS = TimeUnit.DAYS.toMillis(1);

  private final ServerHeartbeat heartbeat;
  private final Database database;
  private final long graceMs;
  private final Consumer<RunId> expireRun;
  private final Consumer<StepRef> expireStep;
  private final long zeroNanos = System.nanoTime();
  private final AtomicLong nextNanos = new AtomicLong(NEVER);
  private ServerHeartbeat.@Nullable PendingWork lastPending;

  public ExpireOverdue(
      ServerHeartbeat heartbeat,
      Database database,
      long graceMs,
      Consumer<RunId> expireRun,
      Consumer<StepRef> expireStep) {
    this.heartbeat = heartbeat;
    this.database = database;
    this.graceMs = graceMs;
    this.expireRun = expireRun;
    this.expireStep = expireStep;
  }

  /** Records that a run or a step times out after {@code delayMs}. Thread-safe. */
  public void expires(long delayMs) {
    scheduleNext(sinceZero(), delayMs);
  }

  // At most one day ahead: a delay of centuries would overflow a long of nanoseconds.
  private void scheduleNext(long fromNanos, long delayMs) {
    long at = fromNanos + TimeUnit.MILLISECONDS.toNanos(Math.min(delayMs, DAY_MS));
    nextNanos.accumulateAndGet(at, Math::min);
  }

  @Override
  public void run() {
    ServerHeartbeat.PendingWork pending = heartbeat.pendingWork();
    Long overdueInMs = pending.overdueInMs();
    if (!pending.equals(lastPending) && overdueInMs != null) {
      scheduleNext(pending.atNanos() - zeroNanos, overdueInMs);
    }
    lastPending = pending;
    if (sinceZero() < nextNanos.get()) {
      return;
    }
    nextNanos.set(NEVER);
    List<RunId> runs = database.read(session -> OverdueRuns.find(session, MAX));
    List<StepRef> steps = database.read(session -> OverdueSteps.find(session, graceMs, MAX));
    runs.forEach(expireRun);
    steps.forEach(expireStep);
    // Read the next timeout now: the next heartbeat may be seconds away.
    heartbeat.send();
  }

  private long sinceZero() {
    return System.nanoTime() - zeroNanos;
  }
}
