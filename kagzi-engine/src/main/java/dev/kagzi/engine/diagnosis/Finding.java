package dev.kagzi.engine.diagnosis;

import dev.kagzi.engine.value.RunId;
import java.util.List;

/**
 * The result of one check.
 *
 * @param message what was found and, unless the status is OK, what was expected
 * @param advice what to do; empty if the status is OK
 * @param runs a few of the runs that the finding is about
 */
public record Finding(
    Check check, Status status, String message, String advice, List<FoundRun> runs) {

  public enum Status {
    OK,
    WARNING,
    FAILURE
  }

  /**
   * A run that a finding is about.
   *
   * @param namespace empty if the run does not exist any more
   * @param why the reason why it does not continue
   */
  public record FoundRun(String namespace, RunId runId, String why) {
    public FoundRun(String namespace, RunId runId) {
      this(namespace, runId, "");
    }

    FoundRun withWhy(String reason) {
      return new FoundRun(namespace, runId, reason);
    }
  }

  public Finding {
    runs = List.copyOf(runs);
  }

  public static Finding ok(Check check, String message) {
    return new Finding(check, Status.OK, message, "", List.of());
  }

  public static Finding warning(Check check, String message, String advice) {
    return new Finding(check, Status.WARNING, message, advice, List.of());
  }

  public static Finding failure(Check check, String message, String advice) {
    return new Finding(check, Status.FAILURE, message, advice, List.of());
  }

  public Finding withRuns(List<FoundRun> found) {
    return new Finding(check, status, message, advice, found);
  }
}
