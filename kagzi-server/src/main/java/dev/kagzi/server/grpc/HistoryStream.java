package dev.kagzi.server.grpc;

import dev.kagzi.engine.dispatch.Tasks;
import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.RecordedStep;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.protocol.v1.GetHistoryResponse;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Sends the recorded steps of a run, page by page. The thread that reads pages from the engine
 * waits while the stream is full. It gives up if the client reads nothing for too long.
 */
final class HistoryStream {
  private static final long READER_SECONDS_MAX = 30;

  private final ServerCallStreamObserver<GetHistoryResponse> out;
  private final WorkerSteps mapper;
  // A permit means "check again"; it does not count messages.
  private final Semaphore stateChanges = new Semaphore(0);

  private HistoryStream(ServerCallStreamObserver<GetHistoryResponse> out, WorkerSteps mapper) {
    this.out = out;
    this.mapper = mapper;
  }

  static void open(
      GrpcContext context,
      String namespace,
      Claim claim,
      StreamObserver<GetHistoryResponse> caller) {
    HistoryStream stream =
        new HistoryStream(
            UnaryResponses.stream(caller),
            new WorkerSteps(namespace, claim.runId(), context.callbacks()));
    stream.out.setOnCancelHandler(stream.stateChanges::release);
    stream.out.setOnReadyHandler(stream.stateChanges::release);
    try {
      context
          .blocking()
          .run("history", () -> stream.send(context.engine().tasks(), namespace, claim));
    } catch (Refusal full) {
      caller.onError(GrpcErrors.of(full));
    }
  }

  private void send(Tasks tasks, String namespace, Claim claim) {
    try {
      tasks.history(namespace, claim, this::sendPage);
    } catch (RuntimeException e) {
      out.onError(GrpcErrors.of(e));
      return;
    }
    out.onCompleted();
  }

  private void sendPage(List<RecordedStep> steps) {
    GetHistoryResponse.Builder message = GetHistoryResponse.newBuilder();
    steps.forEach(step -> message.addSteps(mapper.step(step)));
    out.onNext(message.build());
    // Wait before the next page is read: a slow client then holds one page in memory, not two.
    awaitReady();
  }

  private void awaitReady() {
    try {
      while (!out.isReady() && !out.isCancelled()) {
        if (!stateChanges.tryAcquire(READER_SECONDS_MAX, TimeUnit.SECONDS)) {
          throw reader("reads nothing for " + READER_SECONDS_MAX + " s");
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw GrpcErrors.stopping();
    }
    if (out.isCancelled()) {
      throw reader("has gone");
    }
  }

  private static Refusal reader(String what) {
    return Refusal.of(Refusal.Reason.ABORTED, "history", "", "the history's reader " + what);
  }
}
