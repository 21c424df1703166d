package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.run.ReportWrite;
import dev.kagzi.engine.internal.run.RunRow;
import dev.kagzi.engine.internal.step.ReadSteps;
import dev.kagzi.engine.internal.step.StepRow;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.value.StepStatus;
import java.sql.SQLException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Answers reports of steps that had a result already: they return the recorded one. */
final class RepeatedReports {
  private RepeatedReports() {}

  static void answer(Session tx, RunBatch batch, Collection<ReportWrite> reports)
      throws SQLException {
    Map<StepRow.Key, ReportWrite> writes = new LinkedHashMap<>();
    for (ReportWrite write : reports) {
      if (write.report() instanceof Report.StepDone done) {
        writes.put(new StepRow.Key(write.runId(), done.stepKey()), write);
      }
    }
    Map<StepRow.Key, List<StepRow>> stored = ReadSteps.byKey(tx, writes.keySet());
    writes.forEach(
        (key, write) ->
            stored.getOrDefault(key, List.of()).forEach(row -> answer(batch, write, row)));
  }

  private static void answer(RunBatch batch, ReportWrite write, StepRow stored) {
    RunRow run = batch.row(write.runId());
    boolean own = stored.attempt() == 1 && run != null && stored.epoch() == run.epoch();
    boolean hasResult =
        stored.status() == StepStatus.COMPLETED ? !own : stored.status() == StepStatus.FAILED;
    if (run != null && hasResult) {
      write.answer(new ReportResult.AlreadyRecorded(stored.recorded(run.nowUs(), run.attempts())));
      if (stored.epoch() != run.epoch() && run.fence(write.report().claim()) == RunRow.Fence.HELD) {
        batch.acknowledgeHandOut(run);
      }
    }
  }
}
