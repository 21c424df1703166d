package dev.kagzi.engine.chore;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.run.OverdueRuns;
import dev.kagzi.engine.step.OverdueSteps;
import dev.kagzi.engine.step.StepRef;
import dev.kagzi.engine.value.RunId;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Ends runs and steps whose time is over. This server knows when the next of its own is due, and
 * asks with every pulse for the others': it looks only when there is something to find.
 */
public final class ExpireOverdue implements Chore {
  private static final int MAX = 500;
  private static final long NEVER = Long.MAX_VALUE;
  private static final long DAY_MS = TimeUnit.DAYS.toMillis(1);

  private final ServerHeartbeat pulse;
  private final Database database;
  private final long graceMs;
  private final Consumer<RunId> expireRun;
  private final Consumer<StepRef> expireStep;
  private final long zeroNanos = System.nanoTime();
  private final AtomicLong nextNanos = new AtomicLong(NEVER);
  private ServerHeartbeat.@Nullable Reading seen;

  public ExpireOverdue(
      ServerHeartbeat pulse,
      Database database,
      long graceMs,
      Consumer<RunId> expireRun,
      Consumer<StepRef> expireStep) {
    this.pulse = pulse;
    this.database = database;
    this.graceMs = graceMs;
    this.expireRun = expireRun;
    this.expireStep = expireStep;
  }

  /** Something will be over after so many milliseconds. Thread-safe. */
  public void expires(long delayMs) {
    note(sinceZero(), delayMs);
  }

  // What is years away is looked for once a day: its nanoseconds would not fit.
  private void note(long fromNanos, long delayMs) {
    long at = fromNanos + TimeUnit.MILLISECONDS.toNanos(Math.min(delayMs, DAY_MS));
    nextNanos.accumulateAndGet(at, Math::min);
  }

  @Override
  public void run() {
    ServerHeartbeat.Reading reading = pulse.last();
    Long overdueInMs = reading.overdueInMs();
    if (!reading.equals(seen) && overdueInMs != null) {
      note(reading.atNanos() - zeroNanos, overdueInMs);
    }
    seen = reading;
    if (sinceZero() < nextNanos.get()) {
      return;
    }
    nextNanos.set(NEVER);
    List<RunId> runs = database.read(session -> OverdueRuns.find(session, MAX));
    List<StepRef> steps = database.read(session -> OverdueSteps.find(session, graceMs, MAX));
    runs.forEach(expireRun);
    steps.forEach(expireStep);
    // What follows shall not wait for the next pulse.
    pulse.take();
  }

  private long sinceZero() {
    return System.nanoTime() - zeroNanos;
  }
}
