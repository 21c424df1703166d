package dev.kagzi.server.web.runs;

import dev.kagzi.engine.Engine;
import dev.kagzi.engine.run.CancelResult;
import dev.kagzi.engine.run.ResumeResult;
import dev.kagzi.engine.run.RetryResult;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.server.web.page.Answers;
import dev.kagzi.server.web.page.Show;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** What a person can do with runs. */
public enum RunAction {
  CANCEL("Cancel", EnumSet.of(RunStatus.PENDING, RunStatus.RUNNING, RunStatus.SLEEPING)),
  TERMINATE("Terminate", EnumSet.of(RunStatus.PENDING, RunStatus.RUNNING, RunStatus.SLEEPING)),
  RETRY(
      "Retry",
      EnumSet.of(RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.TIMED_OUT)),
  RESUME("Resume", EnumSet.of(RunStatus.FAILED, RunStatus.TIMED_OUT));

  private final String label;

  @SuppressWarnings("ImmutableEnumChecker") // Never changed, and returned as a copy.
  private final EnumSet<RunStatus> statuses;

  RunAction(String label, EnumSet<RunStatus> statuses) {
    this.label = label;
    this.statuses = statuses;
  }

  /** Returns the action of this name in lower case. */
  public static RunAction parse(String name) {
    return Arrays.stream(values())
        .filter(action -> action.key().equals(name))
        .findFirst()
        .orElseThrow(() -> Refusal.invalid("action", name, "cancel, terminate, retry or resume"));
  }

  public String key() {
    return name().toLowerCase(Locale.ROOT);
  }

  public String label() {
    return label;
  }

  /** Returns the statuses of runs that it can act on. */
  public Set<RunStatus> statuses() {
    return EnumSet.copyOf(statuses);
  }

  /** Returns what happens to a run. */
  public String explanation() {
    return switch (this) {
      case CANCEL ->
          "A cancelled run ends as CANCELLED. Its worker stops it, and its children are cancelled too, unless they are detached.";
      case TERMINATE ->
          "A terminated run ends as FAILED at once. Its failure handler is not started.";
      case RETRY -> "A retry starts a new run with the same input. The old run stays as it is.";
      case RESUME ->
          "A resumed run continues from its recorded steps; only what failed is executed again.";
    };
  }

  /**
   * How one run is acted on.
   *
   * @param operation identifies the confirmation of a user, so that a form that is sent twice takes
   *     effect once
   * @param reason of a termination; empty for none
   * @param force for a resume that would otherwise be refused
   */
  public record Options(String operation, String reason, boolean force) {}

  /**
   * The outcome of an action on one run.
   *
   * @param done false if the run was in a state in which there was nothing to do
   * @param text why it was not done; empty if it was
   */
  public record Outcome(boolean done, String text) {
    static final Outcome DONE = new Outcome(true, "");
  }

  /**
   * Acts on one run and waits until the change is stored.
   *
   * @throws Refusal if the engine refuses it
   */
  public Outcome act(Engine engine, String namespace, RunId run, Options options) {
    return switch (this) {
      case CANCEL -> ended(Answers.await(engine.runs().cancel(namespace, run)));
      case TERMINATE ->
          ended(Answers.await(engine.runs().terminate(namespace, run, options.reason())));
      case RETRY -> retried(Answers.await(retry(engine, namespace, run, options)));
      case RESUME ->
          resumed(Answers.await(engine.runs().resume(namespace, run, null, options.force())));
    };
  }

  private static CompletableFuture<RetryResult> retry(
      Engine engine, String namespace, RunId run, Options options) {
    RunId newId = run.derived("retry " + options.operation());
    return engine.runs().retry(namespace, run, newId, null);
  }

  private static Outcome ended(CancelResult result) {
    return result.cancelled() ? Outcome.DONE : late(result.status());
  }

  private static Outcome resumed(ResumeResult result) {
    return result.resumed()
        ? Outcome.DONE
        : new Outcome(false, "is " + Show.words(result.status()) + ", so it cannot be resumed");
  }

  private static Outcome retried(RetryResult result) {
    return result.alreadyRunning()
        ? new Outcome(false, "is still active, or another run with its id is")
        : Outcome.DONE;
  }

  private static Outcome late(RunStatus status) {
    return new Outcome(false, "had already ended: " + Show.words(status));
  }
}
