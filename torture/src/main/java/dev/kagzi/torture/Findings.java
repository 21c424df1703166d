package dev.kagzi.torture;

import java.util.ArrayList;
import java.util.List;

/** Collects the violations that the checker finds. Not thread-safe. */
final class Findings {
  private final List<Violation> violations = new ArrayList<>();

  /** A violation of a rule. */
  record Violation(String rule, String runId, String text) {
    @Override
    public String toString() {
      return "%s: run %s: %s".formatted(rule, runId, text);
    }
  }

  void add(String rule, String runId, String text) {
    violations.add(new Violation(rule, runId, text));
  }

  List<Violation> violations() {
    return List.copyOf(violations);
  }
}
