package dev.kagzi.engine.chore;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.run.OverdueRuns;
import dev.kagzi.engine.step.OverdueSteps;
import dev.kagzi.engine.step.StepRef;
import dev.kagzi.engine.value.RunId;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Ends runs and steps whose time is over. This server knows when the next of its own is due, and
 * asks with every pulse for the others': it looks only when there is something to find.
 */
public final class EndOverdue implements Chore {
  /** Milliseconds until the next run or step is over; null when none has a time. */
  public static final String NEXT_SQL =
      """
      SELECT ceil(extract(epoch FROM least(
               (SELECT min(deadline_at) FROM kagzi.workflow_runs
                 WHERE deadline_at IS NOT NULL AND available_at IS NOT NULL
                   AND cron_expr IS NULL),
               (SELECT min(timeout_at) FROM kagzi.step_runs
                 WHERE timeout_at IS NOT NULL AND status = 'RUNNING')
                 + ? * interval '1 millisecond') - kagzi.clock()) * 1000)::bigint AS next_ms
      """;

  private static final int MAX = 500;
  private static final long NEVER = Long.MAX_VALUE;

  private final TakePulse pulse;
  private final Database database;
  private final long graceMs;
  private final Consumer<RunId> expireRun;
  private final Consumer<StepRef> expireStep;
  private final long zeroNanos = System.nanoTime();
  private final AtomicLong nextNanos = new AtomicLong(NEVER);
  private int seenBeats;

  public EndOverdue(
      TakePulse pulse,
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
    long at = sinceZero() + TimeUnit.MILLISECONDS.toNanos(delayMs);
    nextNanos.accumulateAndGet(at, Math::min);
  }

  @Override
  public void run() {
    boolean asked = pulse.beats() != seenBeats;
    if (asked) {
      seenBeats = pulse.beats();
      noteNext();
    }
    if (sinceZero() < nextNanos.get()) {
      return;
    }
    nextNanos.set(NEVER);
    List<RunId> runs = database.read(session -> OverdueRuns.find(session, MAX));
    List<StepRef> steps = database.read(session -> OverdueSteps.find(session, graceMs, MAX));
    runs.forEach(expireRun);
    steps.forEach(expireStep);
    noteNext();
  }

  private void noteNext() {
    database
        .read(
            session ->
                session
                    .query(NEXT_SQL)
                    .bind(graceMs)
                    .first(row -> optional(row.bigintOrNull("next_ms"))))
        .flatMap(next -> next)
        .ifPresent(next -> expires(Math.max(0, next)));
  }

  private static Optional<Long> optional(@Nullable Long value) {
    return Optional.ofNullable(value);
  }

  private long sinceZero() {
    return System.nanoTime() - zeroNanos;
  }
}
