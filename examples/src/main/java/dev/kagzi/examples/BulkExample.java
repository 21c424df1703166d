package dev.kagzi.examples;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.util.ArrayList;
import java.util.List;

/** Starts a thousand runs in bulk and collects their results. */
final class BulkExample implements Example {
  private static final int RUNS = 1_000;

  static final WorkflowType<Integer, Integer> SQUARE =
      WorkflowType.of("square", Integer.class, Integer.class).queue("numbers");

  static Integer square(WorkflowContext ctx, Integer number) {
    return ctx.step("multiply", Integer.class, () -> number * number);
  }

  @Override
  public String about() {
    return RUNS + " runs are started in bulk and their results collected";
  }

  @Override
  @SuppressWarnings("try") // close() stops the worker
  public String run(Kagzi kagzi) {
    try (Worker worker =
        kagzi.worker("numbers").workflow(SQUARE, BulkExample::square).maxConcurrent(200).start()) {
      List<Integer> numbers = new ArrayList<>();
      for (int i = 1; i <= RUNS; i++) {
        numbers.add(i);
      }
      long sum = 0;
      for (RunHandle<Integer> run : kagzi.workflow(SQUARE).startAll(numbers)) {
        sum += run.result();
      }
      return "the squares of 1 to " + RUNS + " add up to " + sum;
    }
  }
}
