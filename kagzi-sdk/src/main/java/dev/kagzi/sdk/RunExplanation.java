package dev.kagzi.sdk;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Why a run does not continue, or what it is doing, at the time of the call: {@link
 * RunHandle#explain}. The page {@code docs/why-a-run-waits.md} lists all codes.
 *
 * @param status the run's status; empty if the server cannot reach its database, if the start is
 *     only requested ({@link WorkflowStarter#startIn}), or if the id is that of a schedule
 * @param causes at least one, the most important first
 */
public record RunExplanation(Optional<RunStatus> status, List<Cause> causes) {

  public RunExplanation {
    causes = List.copyOf(causes);
  }

  /**
   * One cause.
   *
   * @param code a stable name, such as {@code NO_WORKER} or {@code STEP_RETRY}; newer servers may
   *     return codes that are not listed in the documentation of this version
   * @param text English sentences with the values and what to do
   * @param refs what the text names
   * @param at the end of the wait if it is known, otherwise its beginning; the text says which.
   *     Empty if the cause has no time
   */
  public record Cause(String code, String text, List<Ref> refs, Optional<Instant> at) {
    public Cause {
      refs = List.copyOf(refs);
    }
  }

  /**
   * A run, worker, step, schedule, queue or namespace.
   *
   * @param kind {@code RUN}, {@code WORKER}, {@code STEP}, {@code SCHEDULE}, {@code QUEUE} or
   *     {@code NAMESPACE}
   * @param id its id; for a queue or a namespace, its name
   */
  public record Ref(String kind, String id) {}

  /** Returns the sentences of all causes, one cause per line. */
  @Override
  public String toString() {
    return causes.stream().map(Cause::text).collect(Collectors.joining("\n"));
  }
}
