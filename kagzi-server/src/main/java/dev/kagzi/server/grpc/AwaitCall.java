package dev.kagzi.server.grpc;

import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.protocol.v1.AwaitWorkflowResponse;
import io.grpc.stub.StreamObserver;
import java.util.Optional;

/**
 * Waits for the end of one run. Responds with the run's state when it ends or when the wait time is
 * over.
 */
record AwaitCall(GrpcContext context, String namespace, RunId runId) {
  void open(long waitMs, StreamObserver<AwaitWorkflowResponse> caller) {
    // The watch delivers less than the response contains, so the run is read from the database.
    new WatchedRead<>(context, "await", caller, this::read)
        .open(
            waitMs,
            call ->
                context.engine().completions().watch(namespace, runId, end -> runEnded(call, end))
                    ::close);
  }

  private void runEnded(WatchedRead<?> call, Optional<RunEnd> end) {
    if (end.isPresent()) {
      call.respond();
    } else {
      call.end(Refusal.notFound("run", runId, namespace));
    }
  }

  private AwaitWorkflowResponse read() {
    RunView run = context.engine().queries().lastOfChain(namespace, runId);
    return AwaitWorkflowResponse.newBuilder()
        .setFinished(run.status().isFinal())
        .setWorkflow(ResponseMapper.workflow(run))
        .build();
  }
}
