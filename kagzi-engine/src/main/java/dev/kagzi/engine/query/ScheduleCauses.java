package dev.kagzi.engine.query;

import dev.kagzi.engine.query.WaitCause.Code;
import dev.kagzi.engine.query.WaitCause.Ref;
import dev.kagzi.engine.value.RunStatus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Why a schedule starts no run now. */
final class ScheduleCauses {
  private final WaitFacts facts;
  private final WaitFacts.Run run;
  private final WaitFacts.Template template;
  private final WaitText text;
  private final Ref self;

  ScheduleCauses(WaitFacts facts, WaitFacts.Template template) {
    this.facts = facts;
    this.run = facts.run();
    this.template = template;
    this.text = new WaitText(facts.now(), facts.run().namespace());
    this.self = Ref.schedule(run.runId());
  }

  List<WaitCause> all() {
    List<WaitCause> causes = new ArrayList<>();
    if (!run.isNamespaceEnabled()) {
      causes.add(WaitCauses.disabled(run.namespace(), ""));
    }
    if (run.status() == RunStatus.PAUSED) {
      causes.add(paused());
    }
    addBuffered(causes);
    if (run.error() != null) {
      causes.add(
          WaitCause.of(
              Code.SCHEDULE_PROBLEM,
              run.availableAt(),
              "Schedule %s cannot fire: %s The server tries again every minute."
                  .formatted(template.name(), WaitText.sentence(WaitText.error(run.error()))),
              self));
    }
    if (causes.isEmpty() || isFiring()) {
      causes.add(next());
    }
    return causes;
  }

  /** Whether servers fire the schedule when it is due. */
  private boolean isFiring() {
    return run.status() == RunStatus.SCHEDULED && run.isNamespaceEnabled() && run.error() == null;
  }

  private WaitCause paused() {
    return WaitCause.of(
        Code.SCHEDULE_PAUSED,
        null,
        "Schedule %s is paused. %s lets it fire again."
            .formatted(template.name(), text.command("schedule resume " + template.name())),
        self);
  }

  private void addBuffered(List<WaitCause> causes) {
    Instant slot = template.bufferedAt();
    if (slot == null) {
      return;
    }
    List<Ref> refs = new ArrayList<>(List.of(self));
    List<String> open = new ArrayList<>();
    for (WaitFacts.Child held : facts.scheduleRuns()) {
      refs.add(Ref.run(held.runId()));
      open.add("%s (%s, %s)".formatted(held.runId(), held.status(), text.since(held.createdAt())));
    }
    causes.add(
        new WaitCause(
            Code.SCHEDULE_BUFFERED,
            "The run of slot %s of schedule %s waits for the end of %s, because the overlap policy is %s.%s"
                .formatted(
                    text.at(slot),
                    template.name(),
                    open.isEmpty() ? "a run that has just ended" : "run " + WaitText.list(open),
                    template.overlapPolicy(),
                    facts.scheduleRuns().isEmpty()
                        ? ""
                        : " %s explains that run."
                            .formatted(
                                text.command(
                                    "workflow why " + facts.scheduleRuns().getFirst().runId()))),
            refs,
            slot));
  }

  private WaitCause next() {
    Instant next = template.nextAt();
    if (next == null || next.equals(Instant.MAX)) {
      return WaitCause.of(
          Code.SCHEDULE_OVER,
          template.lastFiredAt(),
          "The expression of schedule %s matches no further time, so it starts no further run."
              .formatted(template.name()),
          self);
    }
    String last =
        template.lastFiredAt() == null
            ? ""
            : "; it fired last at " + text.at(template.lastFiredAt());
    return WaitCause.of(
        Code.SCHEDULE_NEXT,
        next,
        (next.isAfter(facts.now())
                ? "Schedule %s fires next at %s%s."
                : "Schedule %s is due: its slot is %s%s. A server fires it within seconds; if this"
                    + " stays, check that a server runs, and its log.")
            .formatted(template.name(), text.at(next), last),
        self);
  }
}
