package dev.kagzi.server.web.run;

import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.query.StepView;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.StepStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Finds the places where another claim continued a run that had not waited for anything, for
 * example because its worker died. Each attempt of a step has the epoch of its claim. A wait also
 * ends the claim, so a new epoch after a wait alone is no hand-over.
 */
final class HandOvers {

  /**
   * A hand-over, or the beginning of the next attempt of the run.
   *
   * @param claims an upper bound of the claims since the last recorded one, this one included; 0 if
   *     it is not known
   */
  record HandOver(Instant at, boolean isAttemptOfRun, int runAttempt, int claims) {}

  private final List<TimeScale.Span> waits;
  private final boolean isFirstPage;

  /**
   * Creates a finder.
   *
   * @param waits sleeps, delays of retries and children
   * @param isFirstPage whether no steps come before those that are given; if some do, their waits
   *     are not known, so that only steps that began twice are evidence
   */
  HandOvers(List<TimeScale.Span> waits, boolean isFirstPage) {
    this.waits = List.copyOf(waits);
    this.isFirstPage = isFirstPage;
  }

  /**
   * Returns whether a later claim has begun the attempt again: its start is then later than its
   * creation.
   */
  static boolean isBegunAgain(StepView step) {
    Instant started = step.startedAt();
    return step.kind() == StepKind.FUNCTION
        && started != null
        && step.createdAt().isBefore(started);
  }

  /**
   * Returns whether nobody executes an open step: its claim has ended, and no result was reported.
   */
  static boolean isInterrupted(RunView run, StepView step) {
    boolean isHeld = run.status() == RunStatus.RUNNING && step.stepId().epoch() == run.epoch();
    return step.kind() == StepKind.FUNCTION && step.status() == StepStatus.RUNNING && !isHeld;
  }

  List<HandOver> find(List<StepView> steps, Instant runStart) {
    List<StepView> functions =
        steps.stream()
            .filter(step -> step.kind() == StepKind.FUNCTION)
            .sorted(Comparator.comparing(Timeline::began))
            .toList();
    Set<Integer> epochsAgain = new HashSet<>();
    functions.stream()
        .filter(HandOvers::isBegunAgain)
        .forEach(step -> epochsAgain.add(step.stepId().epoch()));
    List<HandOver> found = new ArrayList<>();
    int epoch = functions.isEmpty() ? 1 : firstEpoch(functions.getFirst());
    int runAttempt = functions.isEmpty() ? 1 : functions.getFirst().runAttempt();
    Instant lastEnd = runStart;
    for (StepView step : functions) {
      int own = step.stepId().epoch();
      if (own > epoch) {
        // After a wait, a claim is no sign of a lost worker.
        int claims = hasWaited(lastEnd, Timeline.began(step)) ? 0 : Claim.between(epoch, own);
        epoch = own;
        if (step.runAttempt() > runAttempt) {
          found.add(new HandOver(Timeline.began(step), true, step.runAttempt(), claims));
        } else if (epochsAgain.contains(own)
            || (isFirstPage && !hasWaited(lastEnd, Timeline.began(step)))) {
          found.add(new HandOver(Timeline.began(step), false, step.runAttempt(), claims));
        }
      }
      runAttempt = Math.max(runAttempt, step.runAttempt());
      Instant end = step.finishedAt();
      lastEnd = end != null && end.isAfter(lastEnd) ? end : lastEnd;
    }
    return found;
  }

  private int firstEpoch(StepView first) {
    StepRef step = first.stepId();
    Claim claim = new Claim(step.runId(), step.epoch());
    return isFirstPage && !claim.isFirst() ? 1 : step.epoch();
  }

  private boolean hasWaited(Instant from, Instant to) {
    return waits.stream().anyMatch(wait -> wait.from().isBefore(to) && !wait.to().isBefore(from));
  }
}
