package dev.kagzi.engine.internal.signal;

import dev.kagzi.engine.value.CallbackAnswer;
import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.RunId;
import org.jspecify.annotations.Nullable;

/**
 * A signal to a run: a row of {@code run_signals}.
 *
 * @param number the position in the order of arrival
 * @param payload the content; null if it was not read
 * @param stepKey the step that has received it; null while it is buffered
 * @param startedBy set if a {@code SignalOrStartWorkflow} call sent the signal; null otherwise
 * @param chain the first run of the run's chain; null for signals to that run itself
 */
public record SignalRow(
    RunId runId,
    int number,
    String signalId,
    String name,
    @Nullable Payload payload,
    @Nullable String stepKey,
    @Nullable StartKey startedBy,
    @Nullable RunId chain) {

  /**
   * The namespace and external id of a {@code SignalOrStartWorkflow} call, which identify its run.
   */
  public record StartKey(String namespace, String externalId) {}

  public record Key(RunId runId, String signalId) {}

  /** Whether it is the answer of a callback, which any number of steps may receive. */
  public boolean isAnswer() {
    return CallbackAnswer.isSignalName(name);
  }

  @Nullable String answer() {
    if (!isAnswer()) {
      return null;
    }
    return payload != null && CallbackAnswer.isFailure(payload) ? "FAILED" : "COMPLETED";
  }

  public SignalRow withStep(@Nullable String other) {
    return new SignalRow(runId, number, signalId, name, payload, other, startedBy, chain);
  }
}
