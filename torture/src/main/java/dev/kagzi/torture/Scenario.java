package dev.kagzi.torture;

import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;

/**
 * One kind of workflow: what its code does, how its client behaves, and how it must end.
 *
 * @param name unique; the name of the workflow's type
 * @param code what the workflow does
 * @param end how a run ends that nobody cancels
 * @param cancelAfterMsMax its client cancels it after a random time up to this; 0 for never
 */
record Scenario(String name, Code code, End end, int cancelAfterMsMax) {
  static final String QUEUE = "torture";

  /** The code of a scenario; it must do the same in each execution of a run. */
  @FunctionalInterface
  interface Code {
    void run(Script script);
  }

  /** How a run ends, in the words of the tables. */
  enum End {
    COMPLETED,
    FAILED
  }

  static Scenario completing(String name, Code code) {
    return new Scenario(name, code, End.COMPLETED, 0);
  }

  static Scenario failing(String name, Code code) {
    return new Scenario(name, code, End.FAILED, 0);
  }

  Scenario cancelledWithin(Duration max) {
    return new Scenario(name, code, end, (int) max.toMillis());
  }

  WorkflowType<String, String> type() {
    return WorkflowType.of(name, String.class, String.class).queue(QUEUE);
  }

  Optional<Duration> cancelAfter(Random random) {
    return cancelAfterMsMax == 0
        ? Optional.empty()
        : Optional.of(Duration.ofMillis(random.nextInt(cancelAfterMsMax)));
  }

  String execute(Script script) {
    code.run(script);
    return script.end();
  }
}
