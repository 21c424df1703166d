package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.run.ContinueRuns;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.step.StepRow;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.ClaimLost;
import dev.kagzi.engine.run.ReportResult.Continued;
import dev.kagzi.engine.run.Versions;
import dev.kagzi.engine.value.ErrorCode;
import dev.kagzi.engine.value.Failure;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.StepStatus;
import dev.kagzi.engine.value.TypeVersion;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Decides reports of runs that continue as new. */
record ChainTransitions(
    RunBatch batch, Versions versions, RunMutations mutations, CancelTransitions cancels) {
  private static final String WORD = "continued";

  /** In the metadata of a failure: the code of the refusal. */
  private static final String CODE = "code";

  /**
   * The successor's id is derived from the run, so a repeated report starts no second successor.
   */
  ReportResult continueAsNew(RunRow row, Report.ContinueAsNew r) {
    return switch (row.fence(r.claim())) {
      case HELD -> {
        Refusal before = refusedBefore(row, r.stepKey());
        if (before != null) {
          yield new ReportResult.Refused(before);
        }
        if (row.isCancelRequested()) {
          // A cancelled run has no successor. Without a step key, it ends as if the code had
          // returned.
          yield r.stepKey().isEmpty()
              ? cancels.finish(row, null)
              : cancels.seen(
                  row, new Report.CancelSeen(r.claim(), r.stepKey(), StepKind.FUNCTION, ""));
        }
        List<String> open = batch.chains().openSteps(row.runId(), batch.openedSteps(row.runId()));
        yield open.isEmpty() ? start(row, r) : refuse(row, r, open);
      }
      case ENDED_BY_HOLDER -> {
        RunId successor = row.continuedTo();
        yield successor == null ? new ClaimLost(row.status()) : new Continued(successor);
      }
      case LOST -> new ClaimLost(row.status());
    };
  }

  private ReportResult start(RunRow row, Report.ContinueAsNew r) {
    RunId successor = row.runId().derived(WORD);
    String version = version(row, r.version());
    batch.chains().add(new ContinueRuns.Successor(row, successor, version, r.input()));
    if (r.openSteps()) {
      batch.closeStepsOfCompleted(row.runId());
    }
    row.continueAs(successor);
    mutations.finish(row, RunStatus.COMPLETED, null, null);
    return new Continued(successor);
  }

  private String version(RunRow row, @Nullable String requested) {
    TypeVersion type = row.type();
    return requested == null
        ? type.version()
        : versions.resolve(row.queue().namespace(), type.type(), requested);
  }

  /**
   * Refuses to continue as new while steps are open. No run could wait for an open child any more,
   * and a cancel of the successor would not reach it. No step could receive the answer of an open
   * callback. The refusal is recorded, because a replay must be refused at the same call, even if
   * the steps have ended by then.
   */
  private ReportResult refuse(RunRow row, Report.ContinueAsNew r, List<String> open) {
    String message =
        "run %s cannot continue as new while these steps are open: %s (expected: none; await them, or start children detached)"
            .formatted(row.runId(), String.join(", ", open));
    if (!r.stepKey().isEmpty()) {
      batch.add(refused(row, r, message));
      row.recordProgress();
    }
    return new ReportResult.Refused(refusal(row, message));
  }

  private StepRow refused(RunRow row, Report.ContinueAsNew r, String message) {
    StepRow last = last(row, r.stepKey());
    int attempt = last == null ? 1 : last.attempt() + 1;
    Failure why =
        new Failure(
            ErrorCode.PRECONDITION_FAILED,
            message,
            true,
            0,
            "run",
            row.runId().toString(),
            Map.of(CODE, Refusal.Code.OPEN_STEPS.name()));
    return StepTransitions.step(
            row, r.claim(), r.stepKey(), attempt, StepKind.FUNCTION, StepStatus.FAILED)
        .failure(why)
        .isFinal()
        .row();
  }

  /** The refusal that this step has recorded in this attempt of the run; null if none. */
  private @Nullable Refusal refusedBefore(RunRow row, String stepKey) {
    StepRow last = stepKey.isEmpty() ? null : last(row, stepKey);
    Failure why = last == null || !last.isFinalIn(row.attempts()) ? null : last.failure();
    return why != null && Refusal.Code.OPEN_STEPS.name().equals(why.metadata().get(CODE))
        ? refusal(row, why.message())
        : null;
  }

  private @Nullable StepRow last(RunRow row, String stepKey) {
    List<StepRow> attempts = batch.attempts(row.runId(), stepKey);
    return attempts.isEmpty() ? null : attempts.getLast();
  }

  private static Refusal refusal(RunRow row, String message) {
    return Refusal.of(Refusal.Code.OPEN_STEPS, "run", row.runId().toString(), message);
  }
}
