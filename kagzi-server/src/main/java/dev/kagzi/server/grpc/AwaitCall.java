package dev.kagzi.server.grpc;

import dev.kagzi.engine.query.Queries;
import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.run.RunCompletions;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.protocol.v1.AwaitWorkflowResponse;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A call that waits for the end of one run. Whatever ends the wait, the answer is the run as it is
 * then.
 */
final class AwaitCall implements OpenCalls.OpenCall {

  /** What every await of a server shares. */
  record Room(
      OpenCalls calls,
      RunCompletions endings,
      Queries queries,
      BlockingCalls blocking,
      ScheduledExecutorService timer) {}

  private final Room room;
  private final String namespace;
  private final RunId runId;
  private final ServerCallStreamObserver<AwaitWorkflowResponse> caller;
  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile RunCompletions.@Nullable Watch watch;
  private volatile @Nullable ScheduledFuture<?> limit;

  private AwaitCall(
      Room room, String namespace, RunId runId, StreamObserver<AwaitWorkflowResponse> caller) {
    this.room = room;
    this.namespace = namespace;
    this.runId = runId;
    this.caller = UnaryResponses.stream(caller);
  }

  static void open(
      Room room,
      String namespace,
      RunId runId,
      long waitMs,
      StreamObserver<AwaitWorkflowResponse> caller) {
    AwaitCall call = new AwaitCall(room, namespace, runId, caller);
    call.caller.setOnCancelHandler(call::finish);
    room.calls().add(call);
    if (!call.ended.get()) {
      call.begin(waitMs);
    }
  }

  private void begin(long waitMs) {
    try {
      watch = room.endings().watch(namespace, runId, this::runEnded);
      limit = room.timer().schedule(this::answer, waitMs, TimeUnit.MILLISECONDS);
    } catch (RuntimeException e) {
      if (finish()) {
        caller.onError(GrpcErrors.of(e));
      }
    }
    if (ended.get()) {
      forget();
    }
  }

  private void runEnded(Optional<RunEnd> end) {
    if (end.isPresent()) {
      answer();
    } else if (finish()) {
      caller.onError(GrpcErrors.of(Refusal.notFound("run", runId)));
    }
  }

  // The end that the watch brings is less than the answer shows, so the run is read.
  private void answer() {
    if (!finish()) {
      return;
    }
    try {
      room.blocking()
          .run(
              "await",
              () -> UnaryResponses.send(caller, () -> reply(room.queries().run(namespace, runId))));
    } catch (Refusal full) {
      caller.onError(GrpcErrors.of(full));
    }
  }

  private static AwaitWorkflowResponse reply(RunView run) {
    return AwaitWorkflowResponse.newBuilder()
        .setFinished(run.status().isFinal())
        .setWorkflow(ResponseMapper.workflow(run))
        .build();
  }

  @Override
  public void end(Refusal why) {
    if (finish()) {
      caller.onError(GrpcErrors.of(why));
    }
  }

  private boolean finish() {
    if (!ended.compareAndSet(false, true)) {
      return false;
    }
    room.calls().remove(this);
    forget();
    return true;
  }

  private void forget() {
    RunCompletions.Watch watched = watch;
    if (watched != null) {
      watched.close();
    }
    ScheduledFuture<?> scheduled = limit;
    if (scheduled != null) {
      scheduled.cancel(false);
    }
  }
}
