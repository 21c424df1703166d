package dev.kagzi.server.web.run;

import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.query.SignalView;

/**
 * A signal in a list.
 *
 * @param stepHref the step that received it; empty for none
 */
public record SignalRow(SignalView signal, State state, String stepHref, PayloadView payload) {

  /** What has become of a signal. */
  public enum State {
    RECEIVED,
    BUFFERED,
    NEVER_RECEIVED
  }

  /** A row of a list, whose large payloads are not read. */
  static SignalRow listed(RunView run, SignalView signal, StepLinks links) {
    return of(run, signal, links, PayloadView.listed(place(signal, links), signal.payload(), true));
  }

  /** A signal with its payload, also a large one. */
  static SignalRow whole(RunView run, SignalView signal, StepLinks links) {
    return of(run, signal, links, PayloadView.whole(place(signal, links), signal.payload()));
  }

  private static SignalRow of(
      RunView run, SignalView signal, StepLinks links, PayloadView payload) {
    String step = signal.stepKey();
    return new SignalRow(
        signal, state(run, signal), step == null ? "" : links.step(step, 1), payload);
  }

  private static State state(RunView run, SignalView signal) {
    if (signal.stepKey() != null) {
      return State.RECEIVED;
    }
    return run.status().isFinal() ? State.NEVER_RECEIVED : State.BUFFERED;
  }

  private static PayloadView.Place place(SignalView signal, StepLinks links) {
    return new PayloadView.Place(
        "Value",
        "signal-" + signal.number(),
        links.signal(signal.number()),
        links.signalPayload(signal.number()));
  }
}
