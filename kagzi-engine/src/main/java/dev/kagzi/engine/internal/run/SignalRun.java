package dev.kagzi.engine.internal.run;

import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.run.SignalResult;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.RunId;

/** Stores a signal to an open run, and wakes the run if it waits for the signal. */
public final class SignalRun extends ChangeRun<SignalResult> {
  private final String namespace;
  private final SignalRequest signal;
  private final String externalId;
  private final Limits limits;

  /**
   * @param externalId the external id of a {@code SignalOrStartWorkflow} call: an earlier run with
   *     this id may have accepted the signal already; empty for other calls
   */
  public SignalRun(
      String namespace, RunId runId, SignalRequest signal, String externalId, Limits limits) {
    super(runId, signal.payload().bytes() + signal.name().length() + signal.signalId().length());
    this.namespace = namespace;
    this.signal = signal;
    this.externalId = externalId;
    this.limits = limits;
  }

  public String namespace() {
    return namespace;
  }

  public SignalRequest signal() {
    return signal;
  }

  public String externalId() {
    return externalId;
  }

  public Limits limits() {
    return limits;
  }
}
