package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the steps of each run to enforce the limit: the recorded steps at the claim plus the steps
 * reported since. Kept only in memory, so that the limit costs no statement. The count is therefore
 * approximate: a server that did not dispatch the claim counts from zero, and a repeated report
 * counts twice. The next claim counts the stored steps again. Thread-safe.
 */
public final class StepCounts {
  private static final long UNUSED_NANOS_MAX = TimeUnit.MINUTES.toNanos(10);

  private final int stepsMax;
  private final Map<RunId, Count> counts = new ConcurrentHashMap<>();

  private static final class Count {
    private final AtomicInteger steps;
    private volatile long lastNanos = System.nanoTime();

    Count(int recorded) {
      this.steps = new AtomicInteger(recorded);
    }

    int add() {
      lastNanos = System.nanoTime();
      return steps.incrementAndGet();
    }
  }

  public StepCounts(int stepsMax) {
    this.stepsMax = stepsMax;
  }

  /** Starts counting for a new claim. Returns a failure if the run has too many recorded steps. */
  public Optional<Failure> claimed(Claim claim, int recorded) {
    if (recorded > stepsMax) {
      return Optional.of(
          Failure.of(
              ErrorCode.INVALID_ARGUMENT,
              "steps: " + recorded + " (expected: " + expectedMax() + ")"));
    }
    if (!claim.isFirst()) {
      counts.put(claim.runId(), new Count(recorded));
    }
    return Optional.empty();
  }

  /**
   * Refuses a report that would exceed the limit. A step counts when its first attempt ends, a
   * child when it starts, a receive each time that it is reported. Sleeps are counted by the next
   * claim.
   */
  public void check(Report report) {
    boolean isNewStep =
        switch (report) {
          case Report.StepDone done -> done.attempt() == 1;
          case Report.StepFailed failed -> failed.attempt() == 1;
          case Report.ChildStarted child -> child.attempt() == 1;
          case Report.Receive ignored -> true;
          case Report.ReceivesStopped ignored -> false;
          case Report.ValuesPublished ignored -> false;
          case Report.ContinueAsNew ignored -> false;
          case Report.CancelSeen ignored -> false;
          case Report.StepStarted ignored -> false;
          case Report.Sleep ignored -> false;
          case Report.Done ignored -> false;
          case Report.Failed ignored -> false;
          case Report.Released ignored -> false;
          case Report.Awaited ignored -> false;
        };
    if (isNewStep) {
      int steps = counts.computeIfAbsent(report.claim().runId(), id -> new Count(0)).add();
      if (steps > stepsMax) {
        throw Refusal.invalid("steps", steps, expectedMax());
      }
    }
  }

  private String expectedMax() {
    return "at most " + stepsMax + " in one run";
  }

  public void ended(RunId run) {
    counts.remove(run);
  }

  /** Drops counts unused for ten minutes: their claims probably ended on another server. */
  public void evictOld() {
    long now = System.nanoTime();
    counts.values().removeIf(count -> now - count.lastNanos > UNUSED_NANOS_MAX);
  }
}
