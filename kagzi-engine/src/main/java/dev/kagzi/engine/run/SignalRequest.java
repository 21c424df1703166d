package dev.kagzi.engine.run;

import dev.kagzi.engine.value.Payload;

/**
 * A signal to be sent to a run.
 *
 * @param signalId chosen by the sender; a signal with the same id is stored once per run
 */
public record SignalRequest(String name, Payload payload, String signalId) {}
