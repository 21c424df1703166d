package dev.kagzi.engine.query;

import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.StepRef;
import dev.kagzi.engine.value.WorkerId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One reason why a run does not continue, or what it is doing.
 *
 * @param text one or two sentences in English, with the values and what to do
 * @param refs what the text names, so that a user interface can link it
 * @param at the time of the cause: when the wait ends, or since when it lasts; null if there is
 *     none
 */
public record WaitCause(Code code, String text, List<Ref> refs, @Nullable Instant at) {

  /**
   * The stable name of a cause. {@code docs/why-a-run-waits.md} explains the meaning of each and
   * what to do.
   */
  public enum Code {
    DATABASE_AWAY,
    ENDED,
    CANCEL_REQUESTED,
    NAMESPACE_DISABLED,
    DEADLINE_PASSED,
    MESSAGE_PENDING,
    NO_WORKER,
    NO_WORKER_FOR_TYPE,
    NO_WORKER_FOR_VERSION,
    WORKERS_DRAINING,
    WORKERS_SILENT,
    SLOTS_TAKEN,
    QUEUE_POSITION,
    DUE,
    START_DELAYED,
    START_REQUESTED,
    START_REFUSED,
    SLEEPING,
    STEP_RETRY,
    RUN_RETRY,
    CHILDREN,
    SIGNAL,
    CALLBACK,
    BRANCHES,
    BLOCKED,
    CRASH_BACKOFF,
    CRASHED_BEFORE,
    RELEASED,
    RUNNING_STEP,
    RUNNING_CODE,
    CLAIMED_SILENT,
    WORKER_DRAINING,
    LEASE_ENDING,
    LEASE_ENDED,
    SCHEDULE_BUFFERED,
    SCHEDULE_PAUSED,
    SCHEDULE_PROBLEM,
    SCHEDULE_NEXT,
    SCHEDULE_OVER
  }

  public enum RefKind {
    RUN,
    WORKER,
    STEP,
    SCHEDULE,
    QUEUE,
    NAMESPACE
  }

  /**
   * Names an object.
   *
   * @param id the id of the object; of a step the text of its {@link StepRef}, of a queue and a
   *     namespace the name
   */
  public record Ref(RefKind kind, String id) {
    static Ref run(RunId id) {
      return new Ref(RefKind.RUN, id.toString());
    }

    static Ref worker(WorkerId id) {
      return new Ref(RefKind.WORKER, id.toString());
    }

    static Ref step(StepRef step) {
      return new Ref(RefKind.STEP, step.toString());
    }

    static Ref schedule(RunId id) {
      return new Ref(RefKind.SCHEDULE, id.toString());
    }

    static Ref queue(String name) {
      return new Ref(RefKind.QUEUE, name);
    }

    static Ref namespace(String name) {
      return new Ref(RefKind.NAMESPACE, name);
    }
  }

  public WaitCause {
    refs = List.copyOf(refs);
    at = Instant.MAX.equals(at) ? null : at;
  }

  static WaitCause of(Code code, @Nullable Instant at, String text, Ref... refs) {
    return new WaitCause(code, text, List.of(refs), at);
  }
}
