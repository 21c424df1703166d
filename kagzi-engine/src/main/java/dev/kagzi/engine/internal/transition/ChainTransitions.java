package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.run.ContinueRuns;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.ClaimLost;
import dev.kagzi.engine.run.ReportResult.Continued;
import dev.kagzi.engine.run.Versions;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.TypeVersion;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decides reports of runs that continue as new. */
record ChainTransitions(
    RunBatch batch, Versions versions, RunMutations mutations, CancelTransitions cancels) {
  private static final String WORD = "continued";

  /** The successor's id is derived from the run: a repeated report starts no other. */
  ReportResult continueAsNew(RunRow row, Report.ContinueAsNew r) {
    return switch (row.fence(r.claim())) {
      case HELD -> {
        if (row.isCancelRequested()) {
          // As if the code had returned: a cancelled run has no successor.
          yield cancels.finish(row, null);
        }
        Refusal refusal = openSteps(row);
        yield refusal == null ? start(row, r) : new ReportResult.Refused(refusal);
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
   * A child of the run would lose its parent: nobody could wait for it any more, and a cancel of
   * the successor would not reach it. The answer of a callback would reach nobody.
   */
  private @Nullable Refusal openSteps(RunRow row) {
    List<String> open = batch.chains().openSteps(row.runId(), batch.startedChildren(row.runId()));
    if (open.isEmpty()) {
      return null;
    }
    return Refusal.of(
        Refusal.Code.OPEN_STEPS,
        "run",
        row.runId().toString(),
        "run %s cannot continue as new while these steps are open: %s (expected: none; await them, or start children detached)"
            .formatted(row.runId(), String.join(", ", open)));
  }
}
