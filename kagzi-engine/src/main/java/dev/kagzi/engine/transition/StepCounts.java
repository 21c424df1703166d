package dev.kagzi.engine.transition;

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
 * How many steps each run has: what its claim found recorded, and what was reported since. Only a
 * memory, so that the limit costs no statement: a server that did not hand the claim out counts
 * from zero, a report that is sent again counts again, and the next claim counts what is stored.
 * Thread-safe.
 */
public final class StepCounts {
  private static final long FORGET_NANOS = TimeUnit.MINUTES.toNanos(10);

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

  /** A run is claimed that has so many steps; answers why it cannot go on if they are too many. */
  public Optional<Failure> claimed(Claim claim, int recorded) {
    if (recorded > stepsMax) {
      return Optional.of(
          Failure.of(
              ErrorCode.INVALID_ARGUMENT, "steps: " + recorded + " (expected: " + most() + ")"));
    }
    if (claim.epoch() > 1) {
      counts.put(claim.runId(), new Count(recorded));
    }
    return Optional.empty();
  }

  /**
   * Refuses the report that would be one step too many. Each step is counted by the end of its
   * first attempt, whatever that is; sleeps that give the run back are counted by the next claim.
   */
  void check(Report report) {
    boolean isNewStep =
        switch (report) {
          case Report.StepDone done -> done.attempt() == 1;
          case Report.StepFailed failed -> failed.attempt() == 1;
          case Report.ChildStarted child -> child.attempt() == 1;
          default -> false;
        };
    if (isNewStep) {
      int steps = counts.computeIfAbsent(report.claim().runId(), id -> new Count(0)).add();
      if (steps > stepsMax) {
        throw Refusal.invalid("steps", steps, most());
      }
    }
  }

  private String most() {
    return "at most " + stepsMax + " in one run";
  }

  /** The claim has ended: the next one counts anew. */
  public void ended(RunId run) {
    counts.remove(run);
  }

  /** Forgets runs whose claims ended elsewhere. */
  public void forgetOld() {
    long now = System.nanoTime();
    counts.values().removeIf(count -> now - count.lastNanos > FORGET_NANOS);
  }
}
