package dev.kagzi.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains a start of the application that failed because it has the other starter. */
final class WrongStarterFailureAnalyzer extends AbstractFailureAnalyzer<WrongStarterException> {
  /** Called by Spring. */
  WrongStarterFailureAnalyzer() {}

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, WrongStarterException cause) {
    return new FailureAnalysis(
        "The application has the wrong starter of Kagzi: " + cause.getMessage() + ".",
        "Replace the dependency dev.kagzi:%s by dev.kagzi:%s."
            .formatted(StarterVersion.ARTIFACT, cause.artifact()),
        cause);
  }
}
