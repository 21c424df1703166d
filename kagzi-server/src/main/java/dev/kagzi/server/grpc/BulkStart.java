package dev.kagzi.server.grpc;

import dev.kagzi.engine.retry.RetryPolicy;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.run.StartResult;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.protocol.v1.StartWorkflowsRequest;
import dev.kagzi.protocol.v1.StartWorkflowsResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Starts many runs in one call. Each start has its own result, in the order of the request. */
final class BulkStart {
  // A start takes more memory than its bytes on the wire, so a limit of bytes alone is not enough.
  private static final int STARTS_MAX = 10_000;

  private BulkStart() {}

  /** Completes with a supplier that builds the response. */
  static CompletableFuture<Supplier<StartWorkflowsResponse>> begin(
      GrpcContext context, RetryPolicy defaults, StartWorkflowsRequest request) {
    int count = request.getStartsCount();
    if (count > STARTS_MAX) {
      throw Refusal.invalid("starts", count + " items", "at most " + STARTS_MAX + " in one call");
    }
    List<StartRequest> readable = new ArrayList<>(count);
    // Errors of items that could not be read; the other items get the engine's results in order.
    dev.kagzi.protocol.v1.StartResult[] refused = new dev.kagzi.protocol.v1.StartResult[count];
    for (int i = 0; i < count; i++) {
      try {
        readable.add(StartMapper.read(request.getStarts(i), request.getNamespace(), defaults));
      } catch (RuntimeException e) {
        refused[i] = refused(e);
      }
    }
    List<CompletableFuture<StartResult>> answers = context.engine().runs().startAll(readable);
    context.tracing().started(readable, answers);
    return CompletableFuture.allOf(answers.toArray(new CompletableFuture<?>[0]))
        .handle((none, someFailed) -> () -> response(refused, answers));
  }

  private static StartWorkflowsResponse response(
      dev.kagzi.protocol.v1.StartResult[] refused, List<CompletableFuture<StartResult>> answers) {
    StartWorkflowsResponse.Builder response = StartWorkflowsResponse.newBuilder();
    int next = 0;
    for (dev.kagzi.protocol.v1.StartResult unread : refused) {
      response.addResults(unread != null ? unread : result(answers.get(next++)));
    }
    return response.build();
  }

  private static dev.kagzi.protocol.v1.StartResult result(CompletableFuture<StartResult> answer) {
    return answer.isCompletedExceptionally()
        ? refused(answer.exceptionNow())
        : dev.kagzi.protocol.v1.StartResult.newBuilder()
            .setStarted(ResponseMapper.started(answer.join()))
            .build();
  }

  private static dev.kagzi.protocol.v1.StartResult refused(Throwable problem) {
    return dev.kagzi.protocol.v1.StartResult.newBuilder()
        .setRefused(GrpcErrors.detail(problem))
        .build();
  }
}
