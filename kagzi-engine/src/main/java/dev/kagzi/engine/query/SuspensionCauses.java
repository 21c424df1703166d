package dev.kagzi.engine.query;

import dev.kagzi.engine.query.WaitCause.Code;
import dev.kagzi.engine.query.WaitCause.Ref;
import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** What a run's code waits for: times, retries, children, signals; alone or in branches. */
final class SuspensionCauses {
  private final WaitFacts facts;
  private final WaitFacts.Run run;
  private final QueryRules rules;
  private final WaitText text;
  private final List<WaitFacts.Step> sleeps;
  private final List<WaitFacts.Step> retried;
  private final List<WaitFacts.Step> children;
  private final List<WaitFacts.Step> receives;

  SuspensionCauses(WaitFacts facts, QueryRules rules) {
    this.facts = facts;
    this.rules = rules;
    this.run = facts.run();
    this.text = new WaitText(facts.now(), facts.run().namespace());
    this.sleeps = waiting().filter(step -> step.kind() == StepKind.SLEEP && isOpen(step)).toList();
    this.retried = waiting().filter(step -> step.status() == StepStatus.FAILED).toList();
    this.children = awaited(StepKind.CHILD_WORKFLOW);
    this.receives = awaited(StepKind.SIGNAL);
  }

  /** The steps that wait for a time in the future. */
  private Stream<WaitFacts.Step> waiting() {
    return facts.steps().stream()
        .filter(step -> step.dueAt() != null && step.dueAt().isAfter(facts.now()));
  }

  private static boolean isOpen(WaitFacts.Step step) {
    return step.status() == StepStatus.RUNNING || step.status() == StepStatus.PENDING;
  }

  /**
   * The open steps of a kind that the run waits for. A suspended run has stored their keys; a
   * running one may wait for any open step.
   */
  private List<WaitFacts.Step> awaited(StepKind kind) {
    return facts.steps().stream()
        .filter(step -> step.kind() == kind && isOpen(step))
        .filter(step -> run.status() == RunStatus.RUNNING || run.isSuspendedFor(step))
        .toList();
  }

  List<WaitCause> all() {
    List<WaitCause> causes = new ArrayList<>();
    Set<String> branches = branches();
    if (branches.size() > 1) {
      causes.add(branched(branches));
    }
    if (!children.isEmpty()) {
      causes.add(awaited());
    }
    receives.stream().limit(WaitText.NAMED_MAX).map(this::received).forEach(causes::add);
    causes.addAll(retries());
    sleeps.stream().limit(WaitText.NAMED_MAX).map(this::slept).forEach(causes::add);
    return causes;
  }

  /** The branches in which something waits; empty is the code outside of branches. */
  private Set<String> branches() {
    Set<String> branches = new LinkedHashSet<>();
    Stream.of(children, receives, retried, sleeps)
        .flatMap(List::stream)
        .map(step -> step.ref().stepKey())
        .forEach(key -> branches.add(key.substring(0, Math.max(0, key.lastIndexOf('/')))));
    return branches;
  }

  private WaitCause branched(Set<String> branches) {
    List<String> names =
        branches.stream().map(name -> name.isEmpty() ? "the main code" : name).sorted().toList();
    return WaitCause.of(
        Code.BRANCHES,
        null,
        "%d branches wait, each for its own cause: %s. The causes follow; the name of a step begins with its branch."
            .formatted(branches.size(), WaitText.list(names)));
  }

  private WaitCause awaited() {
    List<Ref> refs = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (WaitFacts.Step step : children.subList(0, Math.min(children.size(), WaitText.NAMED_MAX))) {
      RunId child = step.child();
      if (child != null) {
        refs.add(Ref.run(child));
      }
      names.add(named(step));
    }
    // Not the length of waitsFor, which also has the steps of children that have ended.
    int all = children.size();
    boolean isCut = facts.steps().size() >= WaitQueries.STEPS_MAX;
    String some = (isCut ? "at least " : "") + all + " child runs: ";
    String which =
        run.status() == RunStatus.RUNNING
            ? "Open child runs, which the code may wait for: "
            : "The run waits for "
                + (all == 1 && !isCut
                    ? "child run "
                    : run.waitsForAll() ? some : "the first of " + some);
    return new WaitCause(
        Code.CHILDREN, which + WaitText.list(names, all) + "." + explained(refs), refs, null);
  }

  /** Explains the first child, with its own first cause if that was read. */
  private String explained(List<Ref> refs) {
    WaitFacts child = facts.child();
    if (child != null) {
      WaitCause cause = WaitCauses.explain(child, rules).causes().getFirst();
      RunId id = child.run().runId();
      return " Why %s does not end: %s %s has all causes."
          .formatted(
              children.size() == 1 ? "that run" : "child run " + id,
              cause.text(),
              text.command("workflow why " + id));
    }
    return refs.isEmpty()
        ? ""
        : " %s explains %s."
            .formatted(
                text.command("workflow why " + refs.getFirst().id()),
                refs.size() == 1 ? "that run" : "the first of them");
  }

  private String named(WaitFacts.Step step) {
    RunId id = step.child();
    WaitFacts.Child child = id == null ? null : facts.children().get(id);
    String state =
        child == null
            ? "not found: it was deleted"
            : "type " + child.type() + ", " + child.status();
    return "%s (step %s, %s)".formatted(id, step.ref().stepKey(), state);
  }

  private WaitCause received(WaitFacts.Step step) {
    Instant due = step.dueAt();
    String until = due == null ? "" : " It stops waiting at " + text.at(due) + ".";
    if (CallbackAnswer.isSignalName(step.name())) {
      return calledBack(step, until);
    }
    List<String> others =
        run.signals().names().stream().filter(name -> !name.equals(step.name())).toList();
    String buffered =
        others.isEmpty()
            ? ""
            : " Signals of other names have arrived: " + WaitText.list(others) + ".";
    return WaitCause.of(
        Code.SIGNAL,
        due == null ? step.beganAt() : due,
        "Step %s has waited for signal %s %s.%s%s %s sends one."
            .formatted(
                step.ref().stepKey(),
                step.name(),
                text.since(step.beganAt()),
                until,
                buffered,
                text.command(
                    "workflow signal " + run.runId() + " " + step.name() + " --input JSON")),
        Ref.step(step.ref()));
  }

  private WaitCause calledBack(WaitFacts.Step step, String until) {
    String callback = step.name().substring(CallbackAnswer.PREFIX.length());
    return WaitCause.of(
        Code.CALLBACK,
        step.dueAt() == null ? step.beganAt() : step.dueAt(),
        ("Step %s has waited for the answer of callback %s %s.%s The system that was given its URL"
                + " has not answered; %s answers in its place.")
            .formatted(
                step.ref().stepKey(),
                callback,
                text.since(step.beganAt()),
                until,
                text.command(
                    "workflow callback " + run.runId() + " " + callback + " --input JSON")),
        Ref.step(step.ref()));
  }

  List<WaitCause> retries() {
    return retried.stream().limit(WaitText.NAMED_MAX).map(this::retried).toList();
  }

  private WaitCause retried(WaitFacts.Step step) {
    Instant due = step.dueAt() == null ? facts.now() : step.dueAt();
    String error = step.error() == null ? "" : ": " + WaitText.error(step.error());
    return WaitCause.of(
        Code.STEP_RETRY,
        due,
        WaitText.sentence(
            "Retry %s of step %s is at %s, after attempt %d failed%s"
                .formatted(
                    WaitCauses.ofMax(step.failures(), step.policy()),
                    step.ref().stepKey(),
                    text.at(due),
                    step.ref().attempt(),
                    error)),
        Ref.step(step.ref()));
  }

  private WaitCause slept(WaitFacts.Step step) {
    Instant due = step.dueAt() == null ? facts.now() : step.dueAt();
    return WaitCause.of(
        Code.SLEEPING,
        due,
        "Sleep %s ends at %s; it began at %s."
            .formatted(step.ref().stepKey(), text.at(due), text.at(step.beganAt())),
        Ref.step(step.ref()));
  }
}
