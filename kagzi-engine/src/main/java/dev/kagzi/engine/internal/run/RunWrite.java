package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.internal.journal.Write;
import dev.kagzi.engine.value.RunId;
import java.util.UUID;

/** A write that concerns one run; sealed, so that every kind must be decided. */
public abstract sealed class RunWrite<R> extends Write<R> permits StartRun, ChangeRun {
  private static final int BYTES_BASE = 200;

  private final RunId runId;
  private final int bytes;

  RunWrite(RunId runId, int contentBytes) {
    this.runId = runId;
    this.bytes = BYTES_BASE + contentBytes;
  }

  public final RunId runId() {
    return runId;
  }

  @Override
  protected final UUID key() {
    return runId.value();
  }

  @Override
  protected final String subject() {
    return "run";
  }

  @Override
  protected final int bytes() {
    return bytes;
  }
}
