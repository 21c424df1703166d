package dev.kagzi.sdk;

import java.time.Instant;
import java.util.Optional;

/**
 * A signal that was sent to a run: {@link RunHandle#signals}.
 *
 * @param number 1 for the first signal that arrived at the run
 * @param id the sender's id of the signal
 * @param receivedAt when the code received it; empty if it did not
 * @param step the step that received it; empty if none did
 */
public record SignalInfo(
    int number,
    String id,
    String name,
    Instant sentAt,
    Optional<Instant> receivedAt,
    Optional<String> step) {

  /** Returns whether a step of the run has received the signal. */
  public boolean isReceived() {
    return receivedAt.isPresent();
  }
}
