package dev.kagzi.spring;

import dev.kagzi.sdk.RequestRefusedException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;

/**
 * Explains a start of the application that failed because the server has another token. Neither
 * text contains a token.
 */
final class TokenRefusedFailureAnalyzer extends AbstractFailureAnalyzer<RequestRefusedException> {
  private final Environment environment;

  /** Called by Spring. */
  TokenRefusedFailureAnalyzer(Environment environment) {
    this.environment = environment;
  }

  @Override
  protected @Nullable FailureAnalysis analyze(
      Throwable rootFailure, RequestRefusedException cause) {
    if (!cause.code().equals("UNAUTHENTICATED")) {
      return null;
    }
    return new FailureAnalysis(
        "The Kagzi server (kagzi.address: %s) refused the application: %s."
            .formatted(environment.getProperty("kagzi.address", "localhost:50051"), sent()),
        """
        Set kagzi.token to the token that the server was started with (its option "token", or the \
        first line of its "token-file"), for example by the environment variable KAGZI_TOKEN.
        Or set kagzi.token-file to a file whose first line is the token.""",
        cause);
  }

  private String sent() {
    if (environment.containsProperty("kagzi.token")) {
      return "kagzi.token is set, but is not the token of this server";
    }
    String file = environment.getProperty("kagzi.token-file");
    return file == null
        ? "it requires a token, and neither kagzi.token nor kagzi.token-file is set"
        : "the first line of kagzi.token-file (%s) is not the token of this server".formatted(file);
  }
}
