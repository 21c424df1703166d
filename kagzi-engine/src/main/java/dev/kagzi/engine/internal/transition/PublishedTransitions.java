package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.run.ReportResult.ClaimLost;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;

/** Stores values that a run's code has published, if its worker still holds the run. */
record PublishedTransitions(RunBatch batch) {
  ReportResult publish(RunRow row, Report.ValuesPublished r) {
    return switch (row.fence(r.claim())) {
      case HELD -> {
        Refusal refusal =
            batch.published().add(row.runId(), row.attempts(), r.claim().epoch(), r.values());
        yield refusal == null
            ? new ReportResult.Accepted(RunStatus.RUNNING)
            : new ReportResult.Refused(refusal);
      }
      // A repeated report. It was stored before the one that ended the claim, because reports of a
      // run keep their order.
      case ENDED_BY_HOLDER -> new ReportResult.Accepted(RunStatus.RUNNING);
      case LOST -> new ClaimLost(row.status());
    };
  }
}
