package dev.kagzi.engine.query;

import dev.kagzi.engine.query.WaitCause.Code;
import dev.kagzi.engine.query.WaitCause.Ref;
import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.engine.value.WorkerStatus;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What a run that a worker holds is doing, and whether that worker is alive. */
final class RunningCauses {
  /** A step that runs longer than this may hang. */
  private static final Duration LONG = Duration.ofMinutes(1);

  private final WaitFacts facts;
  private final WaitFacts.Run run;
  private final QueryRules rules;
  private final WaitText text;

  RunningCauses(WaitFacts facts, QueryRules rules) {
    this.facts = facts;
    this.run = facts.run();
    this.rules = rules;
    this.text = new WaitText(facts.now(), facts.run().namespace());
  }

  List<WaitCause> all() {
    List<WaitCause> causes = new ArrayList<>();
    addLease(causes);
    List<WaitFacts.Step> executed = executed();
    List<WaitCause> suspended = new SuspensionCauses(facts, rules).all();
    if (executed.isEmpty()) {
      causes.addAll(suspended);
      causes.add(isSilent() ? silent() : code());
    } else {
      executed.stream().limit(WaitText.NAMED_MAX).map(this::step).forEach(causes::add);
      causes.addAll(suspended);
    }
    addDrain(causes);
    return causes;
  }

  /** The FUNCTION steps that this claim executes. Those of earlier claims were interrupted. */
  private List<WaitFacts.Step> executed() {
    return facts.steps().stream()
        .filter(
            step ->
                step.kind() == StepKind.FUNCTION
                    && step.status() == StepStatus.RUNNING
                    && step.ref().epoch() == run.epoch())
        .toList();
  }

  private void addLease(List<WaitCause> causes) {
    Instant end = run.availableAt();
    if (facts.isDue() && end != null) {
      causes.add(
          WaitCause.of(
              Code.LEASE_ENDED,
              end,
              "The lease of %s ended at %s: it sent no heartbeat for the run.%s"
                  .formatted(
                      worker(),
                      text.at(end),
                      facts.isHandedOut()
                          ? " The next free worker of the queue takes the run over and continues it"
                              + " after its last recorded step."
                          : ""),
              refs()));
    } else if (end != null && isHolderGone()) {
      causes.add(leaseEnding(end));
    }
  }

  private boolean isHolderGone() {
    WorkerView holder = facts.holder();
    return holder == null
        || holder.status() == WorkerStatus.OFFLINE
        || silence(holder).toMillis() >= rules.health().lateMs();
  }

  private Duration silence(WorkerView worker) {
    return Duration.between(worker.lastHeartbeatAt(), facts.now());
  }

  private WaitCause leaseEnding(Instant end) {
    WorkerView holder = facts.holder();
    String state;
    if (holder == null) {
      state = capital(worker()) + " is not registered any more";
    } else if (holder.status() == WorkerStatus.OFFLINE) {
      state = capital(worker()) + " is offline";
    } else {
      state =
          "%s has sent no heartbeat for %s; after %s it is declared offline"
              .formatted(
                  capital(worker()),
                  text.passed(holder.lastHeartbeatAt()),
                  WaitText.span(Duration.ofMillis(rules.health().deadMs())));
    }
    return WaitCause.of(
        Code.LEASE_ENDING,
        end,
        "%s. Its lease of the run ends at %s at the latest%s. Check that process and its network."
            .formatted(
                state,
                text.at(end),
                facts.isHandedOut()
                    ? "; then another worker takes the run over and continues it after its last"
                        + " recorded step"
                    : ""),
        refs());
  }

  private WaitCause step(WaitFacts.Step step) {
    return new WaitCause(
        Code.RUNNING_STEP,
        "Step %s, attempt %s, runs on %s %s%s%s.%s%s"
            .formatted(
                step.ref().stepKey(),
                attempt(step),
                worker(),
                text.since(step.beganAt()),
                progress(step.progress()),
                timeout(step.timeoutAt()),
                before(step.before()),
                hanging(step)),
        stepRefs(step),
        step.beganAt());
  }

  /** What to do about a step that has run for long and whose progress is not shown. */
  private String hanging(WaitFacts.Step step) {
    boolean isLong = Duration.between(step.beganAt(), facts.now()).compareTo(LONG) > 0;
    return isLong && step.progress() == null
        ? " If it hangs, %s shows where.".formatted(threadDump())
        : "";
  }

  /** Code runs on virtual threads, which {@code jstack} does not show. */
  private String threadDump() {
    WorkerView holder = facts.holder();
    return "`jcmd %s Thread.dump_to_file FILE`%s"
        .formatted(
            holder == null || holder.hostname().isEmpty() ? "PID" : holder.pid(),
            holder == null || holder.hostname().isEmpty() ? "" : " on " + holder.hostname());
  }

  /**
   * The number of the attempt and the maximum. A new attempt of the run resets the count of
   * failures: its steps may use the maximum again.
   */
  private String attempt(WaitFacts.Step step) {
    RetryPolicy ofRun = run.policy() == null ? rules.retries() : run.policy();
    int max = (step.policy() == null ? ofRun : step.policy()).attemptsMax();
    int attempt = step.ref().attempt();
    int now = step.failures() + 1;
    if (max == RetryPolicy.UNLIMITED) {
      return Integer.toString(attempt);
    }
    return now == attempt
        ? attempt + " of " + max
        : "%d (%d of %d in this attempt of the run)".formatted(attempt, now, max);
  }

  private static String before(WaitFacts.@Nullable FailedAttempt before) {
    if (before == null) {
      return "";
    }
    Duration took = before.took();
    return WaitText.sentence(
        " Attempt %d failed%s: %s"
            .formatted(
                before.attempt(),
                took == null ? "" : " after " + WaitText.span(took),
                WaitText.error(before.error())));
  }

  private List<Ref> stepRefs(WaitFacts.Step step) {
    List<Ref> refs = new ArrayList<>(List.of(refs()));
    refs.add(Ref.step(step.ref()));
    return refs;
  }

  private String timeout(@Nullable Instant at) {
    if (at == null) {
      return "";
    }
    return at.isAfter(facts.now())
        ? "; its timeout is at " + text.at(at)
        : "; its timeout passed at " + text.at(at) + ", and the worker is about to be stopped";
  }

  /** Encrypted and compressed progress is not shown. */
  private static String progress(@Nullable Payload progress) {
    if (progress == null || progress.data().length == 0) {
      return "";
    }
    try {
      String shown =
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(progress.data())).toString();
      boolean isText = shown.chars().noneMatch(c -> Character.isISOControl(c) && c != '\n');
      return isText ? "; its progress is " + WaitText.brief(shown) : "";
    } catch (CharacterCodingException notText) {
      return "";
    }
  }

  /**
   * Nothing was received about this claim: no step, and no heartbeat that lists it, because that
   * would have extended the first lease.
   */
  private boolean isSilent() {
    Instant end = run.availableAt();
    WaitFacts.LastStep last = facts.last();
    boolean isRenewed =
        end != null && end.isAfter(run.handedOutAt().plusMillis(rules.firstLeaseMs()));
    boolean isAcknowledged =
        run.acknowledgedEpoch() != null && run.acknowledgedEpoch() == run.epoch();
    return !isAcknowledged && !isRenewed && (last == null || last.epoch() < run.epoch());
  }

  private WaitCause silent() {
    Instant end = run.availableAt();
    return WaitCause.of(
        Code.CLAIMED_SILENT,
        run.handedOutAt(),
        "The run was handed to %s at %s, and nothing about it has been received since.%s"
            .formatted(
                worker(),
                text.at(run.handedOutAt()),
                end == null || facts.isDue() || !facts.isHandedOut()
                    ? ""
                    : " If that stays so, its lease ends at "
                        + text.at(end)
                        + " and another worker receives it."),
        refs());
  }

  private WaitCause code() {
    WaitFacts.LastStep last = facts.last();
    String recorded =
        last == null
            ? "No step of it is recorded yet"
            : "The last record is step %s (%s) at %s"
                .formatted(last.stepKey(), last.status(), text.at(last.at()));
    return WaitCause.of(
        Code.RUNNING_CODE,
        run.handedOutAt(),
        ("The run is on %s %s, in code between steps or in a step that began a moment ago. %s. If"
                + " that lasts, %s shows where.")
            .formatted(worker(), text.since(run.handedOutAt()), recorded, threadDump()),
        refs());
  }

  private void addDrain(List<WaitCause> causes) {
    WorkerView holder = facts.holder();
    if (holder != null && holder.status() == WorkerStatus.DRAINING) {
      causes.add(
          WaitCause.of(
              Code.WORKER_DRAINING,
              null,
              "%s drains: it receives no new runs, and releases this one if it does not end in time.%s"
                  .formatted(
                      capital(worker()),
                      facts.isHandedOut() ? " Another worker then continues it." : ""),
              refs()));
    }
  }

  private static String capital(String sentence) {
    return sentence.substring(0, 1).toUpperCase(Locale.ROOT) + sentence.substring(1);
  }

  private Ref[] refs() {
    return run.lockedBy() == null
        ? new Ref[] {Ref.queue(run.taskQueue())}
        : new Ref[] {Ref.worker(run.lockedBy())};
  }

  /** The worker with its process. */
  private String worker() {
    return WaitText.worker(run.lockedBy(), facts.holder());
  }
}
