package dev.kagzi.sdk;

import java.time.Duration;

/** Thrown by {@link RunHandle#result(Duration)} after its timeout. The run continues. */
public final class ResultTimeoutException extends KagziException {
  public ResultTimeoutException(String runId, Duration waited) {
    super(
        ClientCode.RESULT_TIMEOUT,
        "run %s: not finished after %s; the run continues, and result() can be called again"
            .formatted(runId, waited),
        null);
  }
}
