package dev.kagzi.spring;

import dev.kagzi.sdk.ServerUnavailableException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains a start of the application that failed because no server answered. */
final class NoServerFailureAnalyzer extends AbstractFailureAnalyzer<ServerUnavailableException> {
  /** Called by Spring. */
  NoServerFailureAnalyzer() {}

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, ServerUnavailableException cause) {
    return new FailureAnalysis(
        "No Kagzi server answered: " + cause.getMessage(),
        """
        Start a server, for example with "kagzi dev", or correct kagzi.address, kagzi.token and \
        kagzi.tls.
        To run the server inside the application, add kagzi-spring-boot-embedded.
        To start the application without a server, set kagzi.start-timeout=0.""",
        cause);
  }
}
