package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.value.RunId;

/** A write that changes an existing run. Its lane locks the run before it decides. */
public abstract sealed class ChangeRun<R> extends RunWrite<R>
    permits BeginStep,
        CancelRun,
        DeliverMessages,
        ExpireRun,
        ExpireStep,
        FailCrashedRun,
        ReleaseClaim,
        RenewLease,
        ReportWrite,
        ResumeRun {

  ChangeRun(RunId runId, int contentBytes) {
    super(runId, contentBytes);
  }
}
