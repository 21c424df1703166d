package dev.kagzi.engine.internal.transition;

import dev.kagzi.engine.internal.run.ChangeRun;
import dev.kagzi.engine.internal.run.ReportWrite;
import dev.kagzi.engine.internal.run.SignalRun;
import dev.kagzi.engine.internal.signal.SignalRows;
import dev.kagzi.engine.internal.step.StepRow;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.value.RunId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Collects which signals the writes of a batch need. */
final class SignalReads {
  private final List<SignalRun> sent = new ArrayList<>();
  private final List<Report.Receive> receives = new ArrayList<>();
  private final List<Report.Awaited> waits = new ArrayList<>();
  private final Set<SignalRows.Scope> stopped = new LinkedHashSet<>();

  private record Name(RunId runId, String name) {}

  void add(ChangeRun<?> write) {
    if (write instanceof SignalRun signal) {
      sent.add(signal);
    } else if (write instanceof ReportWrite report) {
      addReport(report.runId(), report.report());
    }
  }

  private void addReport(RunId run, Report report) {
    switch (report) {
      case Report.Receive r -> receives.add(r);
      case Report.Awaited r -> waits.add(r);
      case Report.ReceivesStopped r ->
          r.scopes().forEach(scope -> stopped.add(new SignalRows.Scope(run, scope)));
      default -> {}
    }
  }

  List<SignalRun> sent() {
    return sent;
  }

  /** As many signals of each stopped branch and name as other steps of the run may receive. */
  List<SignalRows.Received> received(List<SignalRows.Wanted> wanted) {
    List<SignalRows.Received> received = new ArrayList<>();
    for (SignalRows.Scope scope : stopped) {
      for (SignalRows.Wanted each : wanted) {
        if (each.runId().equals(scope.runId())) {
          received.add(new SignalRows.Received(scope, each.name(), each.signalsMax()));
        }
      }
    }
    return received;
  }

  /** As many signals of each run and name as steps may receive. */
  List<SignalRows.Wanted> wanted(RunBatch batch) {
    Map<Name, Integer> counts = new LinkedHashMap<>();
    for (Report.Receive r : receives) {
      counts.merge(new Name(r.claim().runId(), r.signal()), 1, Integer::sum);
    }
    for (Report.Awaited wait : waits) {
      RunId run = wait.claim().runId();
      for (String key : wait.steps()) {
        StepRow step = batch.lastAttempt(run, key);
        if (step != null && step.isReceiving()) {
          counts.merge(new Name(run, step.signalName()), 1, Integer::sum);
        }
      }
    }
    List<SignalRows.Wanted> wanted = new ArrayList<>(counts.size());
    counts.forEach((of, count) -> wanted.add(new SignalRows.Wanted(of.runId(), of.name(), count)));
    return wanted;
  }
}
