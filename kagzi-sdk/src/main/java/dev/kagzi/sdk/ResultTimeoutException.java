package dev.kagzi.sdk;

import java.time.Duration;

/** The run had not ended when the wait for its result did. The run goes on. */
public final class ResultTimeoutException extends KagziException {
  public ResultTimeoutException(String runId, Duration waited) {
    super(
        "run %s: not finished after %s; it goes on, and result() can be called again"
            .formatted(runId, waited),
        null);
  }

  @Override
  public String code() {
    return "result-timeout";
  }
}
