package dev.kagzi.server.grpc;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.Report;
import dev.kagzi.engine.run.ReportResult;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportRequest;
import dev.kagzi.protocol.v1.ReportResponse;
import dev.kagzi.server.callback.CallbackUrls;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * Processes a batch of a worker's reports. An item that cannot be read is refused, and with it the
 * later items of its run.
 */
final class ReportCall {
  private static final int ITEMS_MAX = 10_000;

  /**
   * Limit for the awaited steps of one response; the last step may exceed it. A worker can have
   * many waiting runs, and gRPC limits the message size. The worker asks again for the remaining
   * steps.
   */
  private static final int AWAITED_BYTES_MAX = 4 << 20;

  private ReportCall() {}

  /** Completes with a supplier that builds the response. */
  static CompletableFuture<Supplier<ReportResponse>> begin(
      GrpcContext context, RetryPolicy defaults, ReportRequest request) {
    int count = request.getItemsCount();
    if (count > ITEMS_MAX) {
      throw Refusal.invalid("items", count + " items", "at most " + ITEMS_MAX + " in one call");
    }
    if (!request.getWorkerId().isEmpty()) {
      Arguments.workerId(request.getWorkerId());
    }
    String namespace = Arguments.namespace(request.getNamespace());
    CallbackUrls callbacks = context.callbacks();
    List<Report> readable = new ArrayList<>(count);
    Refusal[] refused = new Refusal[count];
    Map<String, Refusal> unreadable = new HashMap<>();
    for (int i = 0; i < count; i++) {
      ReportItem item = request.getItems(i);
      // The worker assumed that its earlier report was stored. A run must not complete without it.
      refused[i] = unreadable.get(item.getRunId());
      if (refused[i] == null) {
        try {
          readable.add(ReportItems.read(item, defaults, callbacks));
        } catch (Refusal refusal) {
          refused[i] = refusal;
          unreadable.put(item.getRunId(), refusal);
        }
      }
    }
    List<RunId> runs = readable.stream().map(report -> report.claim().runId()).toList();
    return context
        .engine()
        .reports()
        .accept(namespace, readable)
        .thenApply(
            results ->
                () ->
                    response(
                        refused, results, i -> new WorkerSteps(namespace, runs.get(i), callbacks)));
  }

  /** {@code steps} converts the steps of the run that the result at this index is about. */
  static ReportResponse response(
      Refusal[] refused, List<ReportResult> results, IntFunction<WorkerSteps> steps) {
    ReportResponse.Builder response = ReportResponse.newBuilder();
    int next = 0;
    long awaitedBytes = 0;
    for (Refusal refusal : refused) {
      if (refusal != null) {
        response.addResults(ResponseMapper.refused(refusal));
        continue;
      }
      WorkerSteps mapper = steps.apply(next);
      ReportResult result = results.get(next++);
      if (result instanceof ReportResult.AwaitedSteps awaited) {
        result = firstThatFit(awaited, AWAITED_BYTES_MAX - awaitedBytes);
        awaitedBytes += bytes(((ReportResult.AwaitedSteps) result).steps());
      } else if (result instanceof ReportResult.Received received) {
        // The signal is already recorded. If it does not fit into this response, the worker waits
        // and asks for it again.
        result = awaitedBytes < AWAITED_BYTES_MAX ? result : new ReportResult.Receiving(null, true);
        awaitedBytes += received.step().bytes();
      }
      response.addResults(ResponseMapper.reportResult(result, mapper));
    }
    return response.build();
  }

  private static ReportResult.AwaitedSteps firstThatFit(
      ReportResult.AwaitedSteps awaited, long bytesLeft) {
    List<RecordedStep> fitting = new ArrayList<>();
    long left = bytesLeft;
    for (RecordedStep step : awaited.steps()) {
      if (left <= 0) {
        break;
      }
      fitting.add(step);
      left -= step.bytes();
    }
    return new ReportResult.AwaitedSteps(fitting, awaited.claimKept());
  }

  private static long bytes(List<RecordedStep> steps) {
    return steps.stream().mapToLong(RecordedStep::bytes).sum();
  }
}
