package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.value.CountText;
import dev.kagzi.engine.query.WaitCause.Code;
import dev.kagzi.engine.query.WaitCause.Ref;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides why a run does not continue. A pure function of the facts: it reads no database and no
 * clock.
 */
final class WaitCauses {
  /** A message is delivered at once. A chore redelivers one that is older than this. */
  private static final Duration MESSAGE_LATE = Duration.ofSeconds(2);

  /** The SDK's reason for runs whose transactional step has an unknown outcome. */
  private static final String TRANSACTION_UNRESOLVED = "TRANSACTION_UNRESOLVED";

  /**
   * Longer than for other messages: the difference is described at the end, after values that may
   * be long.
   */
  private static final int DIFFERENCE_CHARS_MAX = 1_000;

  private final WaitFacts facts;
  private final WaitFacts.Run run;
  private final QueryRules rules;
  private final WaitText text;
  private final List<WaitCause> causes = new ArrayList<>();

  private WaitCauses(WaitFacts facts, QueryRules rules) {
    this.facts = facts;
    this.run = facts.run();
    this.rules = rules;
    this.text = new WaitText(facts.now(), facts.run().namespace());
  }

  static Explanation explain(WaitFacts facts, QueryRules rules) {
    WaitCauses decision = new WaitCauses(facts, rules);
    decision.decide();
    return new Explanation(facts.run().status(), decision.causes);
  }

  private void decide() {
    WaitFacts.Template template = run.template();
    if (run.status().isFinal()) {
      causes.add(ended());
    } else if (template != null) {
      causes.addAll(new ScheduleCauses(facts, template).all());
    } else {
      addCancelRequest();
      addLateMessage();
      addPassedDeadline();
      if (run.status() == RunStatus.RUNNING) {
        addRunning();
      } else {
        addWaiting();
      }
    }
  }

  private WaitCause ended() {
    Instant at = run.finishedAt();
    String when = at == null ? "" : " at " + text.at(at);
    RunId successor = run.continuedTo();
    if (successor != null) {
      return WaitCause.of(
          Code.ENDED,
          at,
          WaitText.sentence("The run continued as run %s%s".formatted(successor, when))
              + " Calls about its result, and signals to it, go to the last run of the chain.",
          WaitCause.Ref.run(successor));
    }
    String error = run.error() == null ? "" : ": " + WaitText.error(run.error());
    String next =
        switch (run.status()) {
          case FAILED, TIMED_OUT ->
              " %s continues it where it stopped, %s starts it again."
                  .formatted(
                      text.command("workflow resume " + run.runId()),
                      text.command("workflow retry " + run.runId()));
          case CANCELLED ->
              " " + text.command("workflow retry " + run.runId()) + " starts it again.";
          default -> "";
        };
    return WaitCause.of(
        Code.ENDED,
        at,
        WaitText.sentence("The run ended as %s%s%s".formatted(run.status(), when, error))
            + neverReceived()
            + next);
  }

  private String neverReceived() {
    WaitFacts.Signals signals = run.signals();
    return signals.buffered() == 0
        ? ""
        : " It never received %s: %s."
            .formatted(CountText.of(signals.buffered(), "signal"), WaitText.list(signals.names()));
  }

  /** Added first: the causes after it explain why the run has not finished its clean-up. */
  private void addCancelRequest() {
    Instant at = run.cancelRequestedAt();
    Instant until = run.deadlineAt();
    if (at != null && until != null) {
      causes.add(
          WaitCause.of(
              Code.CANCEL_REQUESTED,
              until,
              ("A cancel was requested at %s. The code of the run cleans up; the run ends as"
                      + " CANCELLED when it has, and at %s at the latest. %s ends it now.")
                  .formatted(
                      text.at(at),
                      text.at(until),
                      text.command("workflow terminate " + run.runId()))));
    }
  }

  private void addLateMessage() {
    Instant at = run.messageAt();
    if (at != null && at.plus(MESSAGE_LATE).isBefore(facts.now())) {
      causes.add(
          WaitCause.of(
              Code.MESSAGE_PENDING,
              at,
              ("The end of a child, or the cancel of its parent, has not reached the run %s. A"
                      + " server delivers such messages every few seconds; if this stays, check that"
                      + " a server runs, and its log.")
                  .formatted(text.since(at))));
    }
  }

  private void addPassedDeadline() {
    Instant deadline = run.deadlineAt();
    if (deadline != null && facts.isDeadlinePassed()) {
      causes.add(
          WaitCause.of(
              Code.DEADLINE_PASSED,
              deadline,
              ("The deadline of the run passed at %s. No worker receives it any more; a server ends"
                      + " it as %s within a few seconds.")
                  .formatted(
                      text.at(deadline),
                      run.cancelRequestedAt() == null
                          ? RunStatus.TIMED_OUT
                          : RunStatus.CANCELLED)));
    }
  }

  /**
   * A run whose lease has ended also waits for a worker that takes it over. Otherwise earlier
   * crashes come first: the worker that executes the run now may be about to crash, too.
   */
  private void addRunning() {
    if (facts.isDue()) {
      addDisabledNamespace();
    }
    if (!facts.isDue() && run.crashes() > 0) {
      causes.add(crashedBefore());
    }
    causes.addAll(new RunningCauses(facts, rules).all());
    if (facts.isDue() && facts.isHandedOut()) {
      addDispatch();
    }
  }

  private void addWaiting() {
    addDisabledNamespace();
    boolean isBlocked = run.blockedBy() != null && run.status() == RunStatus.PENDING;
    if (isBlocked) {
      causes.add(blocked());
    }
    if (facts.isDeadlinePassed()) {
      return;
    }
    if (!facts.isDue()) {
      addNotDue(isBlocked);
    } else if (facts.isHandedOut()) {
      addDispatch();
    }
  }

  /**
   * Adds earlier crashes before the advice to start a worker, because that worker may crash, too.
   */
  private void addDispatch() {
    if (run.crashes() > 0) {
      causes.add(crashedBefore());
    }
    causes.addAll(dispatch());
  }

  private void addNotDue(boolean isBlocked) {
    if (run.status() == RunStatus.SLEEPING) {
      causes.addAll(suspensions());
    } else if (!isBlocked) {
      addDelay();
    }
  }

  private List<WaitCause> dispatch() {
    WaitFacts.Queue queue = facts.queue();
    return queue == null ? List.of() : new DispatchCauses(facts, queue, rules).all();
  }

  private List<WaitCause> suspensions() {
    List<WaitCause> found = new SuspensionCauses(facts, rules).all();
    if (!found.isEmpty()) {
      return found;
    }
    Instant due = run.availableAt();
    return List.of(
        due == null || due.equals(Instant.MAX)
            ? WaitCause.of(
                Code.CHILDREN,
                null,
                "The run waits for the end of: %s."
                    .formatted(
                        run.waitsFor().isEmpty()
                            ? "child runs"
                            : "steps " + WaitText.list(run.waitsFor())))
            : WaitCause.of(Code.SLEEPING, due, "The run sleeps until %s.".formatted(text.at(due))));
  }

  private void addDisabledNamespace() {
    if (!run.isNamespaceEnabled()) {
      Instant due = run.availableAt();
      String overdue =
          due != null && facts.isDue()
              ? " This run has been due %s.".formatted(text.since(due))
              : "";
      causes.add(disabled(run.namespace(), overdue));
    }
  }

  /**
   * @param more a further sentence that begins with a space; empty if there is none
   */
  static WaitCause disabled(String namespace, String more) {
    return WaitCause.of(
        Code.NAMESPACE_DISABLED,
        null,
        ("Namespace %s is disabled, so none of its runs is handed to a worker. `kagzi namespace"
                + " enable %<s` enables it.%s")
            .formatted(namespace, more),
        Ref.namespace(namespace));
  }

  private WaitCause blocked() {
    Instant due = run.availableAt();
    Failure blockedBy = run.blockedBy();
    String why = blockedBy == null ? "" : WaitText.error(blockedBy, DIFFERENCE_CHARS_MAX);
    boolean isUnresolved =
        blockedBy != null && TRANSACTION_UNRESOLVED.equals(blockedBy.metadata().get("code"));
    return WaitCause.of(
        Code.BLOCKED,
        due,
        "%s: %s %s"
            .formatted(
                isUnresolved
                    ? "Its worker cannot find out whether a transactional step was committed"
                    : "The code of its worker does not match what is recorded of the run",
                WaitText.sentence(why),
                nextTry(due, isUnresolved)),
        Ref.queue(run.taskQueue()));
  }

  private String nextTry(@Nullable Instant due, boolean isUnresolved) {
    if (!facts.isHandedOut()) {
      return "It is not handed out now.";
    }
    String again =
        due == null || facts.isDue()
            ? "It is handed out again now"
            : "The next try is at " + text.at(due);
    return again
        + (isUnresolved
            ? "; it stays blocked until table kagzi_steps of that database can be read."
            : "; it stays blocked until a worker has matching code.");
  }

  /** Why a PENDING run is not due yet. */
  private void addDelay() {
    Instant due = run.availableAt();
    List<WaitCause> retries = new SuspensionCauses(facts, rules).retries();
    boolean isStepRetry = due != null && isTimeOfRetry(due) && !retries.isEmpty();
    if (due == null || isStepRetry) {
      causes.addAll(retries);
    } else if (run.crashes() > 0) {
      causes.add(crashed(due));
      causes.addAll(retries);
    } else if (retries.isEmpty() || isRunRetry()) {
      causes.add(delayed(due));
    } else {
      causes.addAll(retries);
    }
  }

  private boolean isRunRetry() {
    return run.attempts() > 1 && run.error() != null && run.policy() != null;
  }

  private boolean isTimeOfRetry(Instant due) {
    return facts.steps().stream().anyMatch(step -> due.equals(step.dueAt()));
  }

  private WaitCause crashed(Instant due) {
    return WaitCause.of(
        Code.CRASH_BACKOFF,
        due,
        ("%s in a row crashed or went silent with the run before it recorded a further step%s. It"
                + " is handed out again at %s. It fails when more than %d workers in a row are lost."
                + " Read the log of %s: perhaps memory was short, or code ends the process.")
            .formatted(
                CountText.of(run.crashes(), "worker"),
                interrupted(),
                text.at(due),
                rules.crashesMax(),
                lost()),
        lostRefs());
  }

  /**
   * Counts the claim of a RUNNING run whose lease has ended as a crash, although the run does not
   * count it before it is claimed again.
   */
  private WaitCause crashedBefore() {
    int lost = run.crashes() + (run.status() == RunStatus.RUNNING && facts.isDue() ? 1 : 0);
    return WaitCause.of(
        Code.CRASHED_BEFORE,
        run.availableAt(),
        ("The last %s lost (crashed or went silent) before it recorded a further step%s; after more"
                + " than %d in a row it fails. Read the log of %s before you start another one:"
                + " memory, or code that ends the process.")
            .formatted(
                lost == 1 ? "worker that ran it was" : lost + " workers that ran it were",
                interrupted(),
                rules.crashesMax(),
                lost()),
        lostRefs());
  }

  /** The steps that earlier claims began and did not end. */
  private String interrupted() {
    List<String> names =
        facts.steps().stream()
            .filter(step -> step.kind() == StepKind.FUNCTION)
            .filter(step -> step.status() == StepStatus.RUNNING)
            .filter(step -> !isExecuted(step))
            .map(step -> step.ref().stepKey())
            .toList();
    return names.isEmpty()
        ? ""
        : "; interrupted: step%s %s".formatted(names.size() == 1 ? "" : "s", WaitText.list(names));
  }

  /** Whether the claim that is alive executes the step. */
  private boolean isExecuted(WaitFacts.Step step) {
    return run.status() == RunStatus.RUNNING && !facts.isDue() && step.ref().epoch() == run.epoch();
  }

  /**
   * Names the worker that lost the run last. While another worker holds the run, that is not known
   * any more.
   */
  private String lost() {
    WorkerId last = lastHolder();
    return last == null ? "the workers" : WaitText.worker(last, facts.holder());
  }

  private Ref[] lostRefs() {
    WorkerId last = lastHolder();
    Ref queue = Ref.queue(run.taskQueue());
    return last == null ? new Ref[] {queue} : new Ref[] {queue, Ref.worker(last)};
  }

  private @Nullable WorkerId lastHolder() {
    if (run.status() != RunStatus.RUNNING) {
      return run.takenFrom();
    }
    return facts.isDue() ? run.lockedBy() : null;
  }

  private WaitCause delayed(Instant due) {
    Failure error = run.error();
    if (isRunRetry() && error != null) {
      return WaitCause.of(
          Code.RUN_RETRY,
          due,
          WaitText.sentence(
              "Retry %s of the whole run is at %s, after it failed with %s"
                  .formatted(
                      ofMax(run.attempts() - 1, run.policy()),
                      text.at(due),
                      WaitText.error(error))));
    }
    return run.epoch() == 0
        ? WaitCause.of(
            Code.START_DELAYED, due, "The run does not start before %s.".formatted(text.at(due)))
        : WaitCause.of(
            Code.RELEASED,
            due,
            "Its worker gave the run back. It is handed out again at %s.".formatted(text.at(due)));
  }

  /** "2 of 4": the number of a retry and how many there are at most. */
  static String ofMax(int retry, @Nullable RetryPolicy policy) {
    if (policy == null) {
      return Integer.toString(retry);
    }
    return policy.attemptsMax() == RetryPolicy.UNLIMITED
        ? retry + " (without a limit)"
        : retry + " of " + (policy.attemptsMax() - 1);
  }
}
