package dev.kagzi.server.web.run;

import dev.kagzi.engine.run.SignalRequest;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.server.web.page.JsonText;
import dev.kagzi.server.web.page.PageRequest;
import java.util.Map;

/**
 * The fields of the form that sends a signal, as texts.
 *
 * @param signalId created with the page, so that a form that is sent twice sends one signal
 */
public record SignalForm(String name, String payload, String signalId) {

  static SignalForm empty(String name) {
    return new SignalForm(name, "", RunId.next().toString());
  }

  static SignalForm sent(PageRequest request) {
    return new SignalForm(request.form("name"), request.form("payload"), request.form("signal_id"));
  }

  SignalRequest request() {
    if (signalId.isEmpty()) {
      throw Refusal.invalid("signal_id", "\"\"", "the value of the form");
    }
    return new SignalRequest(name, JsonText.payload("payload", payload, Map.of()), signalId);
  }
}
