package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.value.RunId;

/** A write that changes an existing run. The run is locked before the write is decided. */
public abstract sealed class ChangeRun<R> extends RunWrite<R>
    permits BeginStep,
        CancelRun,
        DeliverMessages,
        ExpireRun,
        ExpireStep,
        FailCrashedRun,
        RenewLease,
        ReportWrite,
        ResumeRun,
        SignalRun,
        TakeClaim {

  ChangeRun(RunId runId, int contentBytes) {
    super(runId, contentBytes);
  }
}
