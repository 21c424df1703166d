package dev.kagzi.torture;

import java.util.List;

/**
 * The result of a torture test.
 *
 * @param problems empty if it has passed
 */
record Verdict(int faults, int runs, int steps, long seed, List<String> problems) {
  Verdict {
    problems = List.copyOf(problems);
  }

  boolean passed() {
    return problems.isEmpty();
  }

  /** The last line of the program's output. */
  String lastLine() {
    return passed()
        ? "passed: %d faults, %d runs, %d steps, seed %d".formatted(faults, runs, steps, seed)
        : "FAILED: %s%s"
            .formatted(
                problems.getFirst(),
                problems.size() == 1 ? "" : " (and " + (problems.size() - 1) + " more, see above)");
  }
}
