package dev.kagzi.sdk;

import java.time.Instant;
import java.util.Optional;

/**
 * A signal that was sent to a run: {@link RunHandle#signals}.
 *
 * @param number increases in the order of arrival. Answers of callbacks and signals of earlier runs
 *     of the chain have numbers, too, so it may have gaps and may not begin at 1
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
