package dev.kagzi.server.grpc;

import dev.kagzi.engine.query.RunView;
import dev.kagzi.engine.run.RunCompletions;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.protocol.v1.AwaitWorkflowResponse;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Waits for the end of one run; responds with its state then, or when the time is over. */
final class AwaitCall implements OpenCalls.OpenCall {
  private final GrpcContext context;
  private final String namespace;
  private final RunId runId;
  private final ServerCallStreamObserver<AwaitWorkflowResponse> caller;
  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile RunCompletions.@Nullable Watch watch;
  private volatile @Nullable ScheduledFuture<?> limit;

  private AwaitCall(
      GrpcContext context,
      String namespace,
      RunId runId,
      StreamObserver<AwaitWorkflowResponse> caller) {
    this.context = context;
    this.namespace = namespace;
    this.runId = runId;
    this.caller = UnaryResponses.stream(caller);
  }

  static void open(
      GrpcContext context,
      String namespace,
      RunId runId,
      long waitMs,
      StreamObserver<AwaitWorkflowResponse> caller) {
    AwaitCall call = new AwaitCall(context, namespace, runId, caller);
    call.caller.setOnCancelHandler(call::finish);
    context.calls().add(call);
    if (!call.ended.get()) {
      call.begin(waitMs);
    }
  }

  private void begin(long waitMs) {
    try {
      watch = context.engine().completions().watch(namespace, runId, this::runEnded);
      limit = context.timer().schedule(this::answer, waitMs, TimeUnit.MILLISECONDS);
    } catch (RuntimeException e) {
      if (finish()) {
        caller.onError(GrpcErrors.of(e));
      }
    }
    if (ended.get()) {
      release();
    }
  }

  private void runEnded(Optional<RunEnd> end) {
    if (end.isPresent()) {
      answer();
    } else if (finish()) {
      caller.onError(GrpcErrors.of(Refusal.notFound("run", runId)));
    }
  }

  // The watch delivers less than the response contains, so the run is read from the database.
  private void answer() {
    if (!finish()) {
      return;
    }
    try {
      context
          .blocking()
          .run(
              "await",
              () ->
                  UnaryResponses.send(
                      caller, () -> reply(context.engine().queries().run(namespace, runId))));
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
    context.calls().remove(this);
    release();
    return true;
  }

  private void release() {
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
