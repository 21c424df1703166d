package dev.kagzi.sdk.internal.run;

import dev.kagzi.protocol.v1.GetHistoryResponse;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.sdk.internal.wire.Backoff;
import dev.kagzi.sdk.internal.wire.RpcErrors;
import io.grpc.StatusRuntimeException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

final class HistoryReader {
  private HistoryReader() {}

  static Map<String, RecordedStep> load(RunHost host, Task task, WorkflowThread workflowThread) {
    return task.getHistoryApart() ? fetch(host, task, workflowThread) : byKey(task);
  }

  private static Map<String, RecordedStep> byKey(Task task) {
    Map<String, RecordedStep> steps = HashMap.newHashMap(task.getStepsCount());
    for (RecordedStep step : task.getStepsList()) {
      steps.put(step.getStepKey(), step);
    }
    return steps;
  }

  private static Map<String, RecordedStep> fetch(
      RunHost host, Task task, WorkflowThread workflowThread) {
    Backoff backoff = new Backoff(50, 2_000);
    while (true) {
      workflowThread.check();
      try {
        Map<String, RecordedStep> steps = new HashMap<>();
        Iterator<GetHistoryResponse> pages = host.history(task);
        while (pages.hasNext()) {
          for (RecordedStep step : pages.next().getStepsList()) {
            steps.put(step.getStepKey(), step);
          }
        }
        workflowThread.state().historyArrived();
        return steps;
      } catch (StatusRuntimeException e) {
        waitOrEnd(e, backoff, workflowThread);
      }
    }
  }

  private static void waitOrEnd(
      StatusRuntimeException e, Backoff backoff, WorkflowThread workflowThread) {
    switch (RpcErrors.code(e)) {
      case NOT_FOUND, FAILED_PRECONDITION -> throw workflowThread.end(new StopReason.Lost());
      default -> workflowThread.waitInPlace(backoff.nextMs());
    }
  }
}
