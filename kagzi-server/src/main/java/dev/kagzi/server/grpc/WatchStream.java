package dev.kagzi.server.grpc;

import dev.kagzi.engine.run.RunCompletions;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.protocol.v1.WatchWorkflowsRequest;
import dev.kagzi.protocol.v1.WatchWorkflowsResponse;
import dev.kagzi.protocol.v1.WorkflowEnd;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * One client's stream of ends of runs. Each run that the client names is answered once; what ends
 * while a message is on its way travels together in the next.
 *
 * <p>When the client has said that it names no more, the stream completes with the last answer.
 */
final class WatchStream implements StreamObserver<WatchWorkflowsRequest>, OpenCalls.OpenCall {
  /** How many runs one stream may have open. */
  static final int RUNS_MAX = 100_000;

  private final OpenCalls calls;
  private final RunCompletions endings;
  private final CompletionQueue ends;
  private final StreamSender<WatchWorkflowsResponse> pump;
  private final Map<RunId, Watched> open = new ConcurrentHashMap<>();
  private @Nullable String namespace;
  private volatile boolean named;
  private volatile boolean closed;

  private static final class Watched {
    volatile RunCompletions.@Nullable Watch watch;

    void close() {
      RunCompletions.Watch begun = watch;
      if (begun != null) {
        begun.close();
      }
    }
  }

  private WatchStream(GrpcContext room, ServerCallStreamObserver<WatchWorkflowsResponse> out) {
    this.calls = room.calls();
    this.endings = room.engine().endings();
    this.ends = new CompletionQueue(room.memory());
    this.pump = new StreamSender<>(out, room.senders(), this::next);
  }

  static StreamObserver<WatchWorkflowsRequest> open(
      GrpcContext room, StreamObserver<WatchWorkflowsResponse> caller) {
    ServerCallStreamObserver<WatchWorkflowsResponse> out = UnaryResponses.stream(caller);
    WatchStream stream = new WatchStream(room, out);
    stream.pump.start(stream::close);
    room.calls().add(stream);
    return stream;
  }

  @Override
  public void onNext(WatchWorkflowsRequest request) {
    if (closed) {
      return;
    }
    try {
      if (namespace == null) {
        namespace = Arguments.namespace(request.getNamespace());
      }
      for (String id : request.getForgetRunIdsList()) {
        RunId.parse(id).ifPresent(this::forget);
      }
      for (String id : request.getWatchRunIdsList()) {
        watchNamed(id);
      }
    } catch (RuntimeException e) {
      fail(e);
    }
  }

  @Override
  public void onError(Throwable gone) {
    close();
  }

  @Override
  public void onCompleted() {
    named = true;
    completeIfAnswered();
  }

  @Override
  public void end(Refusal why) {
    fail(why);
  }

  private void fail(RuntimeException problem) {
    close();
    pump.fail(GrpcErrors.of(problem));
  }

  private void close() {
    closed = true;
    calls.remove(this);
    for (RunId run : open.keySet()) {
      forget(run);
    }
    ends.close();
  }

  // What is no id names no run. The stream goes on: it carries other callers' runs too.
  private void watchNamed(String id) {
    Optional<RunId> run = RunId.parse(id);
    if (run.isEmpty()) {
      ends.add(WorkflowEnd.newBuilder().setRunId(Refusal.shorten(id)).setNotFound(true).build());
      pump.wake();
      return;
    }
    if (open.size() + ends.size() >= RUNS_MAX) {
      throw Refusal.of(
          Refusal.Reason.RESOURCE_EXHAUSTED,
          "watch_run_ids",
          "",
          "watched runs: more than " + RUNS_MAX + " (expected: fewer, or another stream)");
    }
    watch(run.get());
  }

  private void watch(RunId run) {
    Watched watched = new Watched();
    if (open.putIfAbsent(run, watched) != null) {
      return;
    }
    watched.watch = endings.watch(String.valueOf(namespace), run, end -> ended(run, watched, end));
    if (closed || open.get(run) != watched) {
      open.remove(run, watched);
      watched.close();
    }
  }

  private void forget(RunId run) {
    Watched watched = open.remove(run);
    if (watched != null) {
      watched.close();
    }
    completeIfAnswered();
  }

  private void ended(RunId run, Watched watched, Optional<RunEnd> end) {
    if (closed || open.get(run) != watched) {
      return;
    }
    // Queued before it is no longer open: between the two nobody may think that all is answered.
    ends.add(run, end);
    open.remove(run, watched);
    pump.wake();
    completeIfAnswered();
  }

  private void completeIfAnswered() {
    if (named && !closed && open.isEmpty() && !ends.hasLeftOut()) {
      calls.remove(this);
      pump.complete();
    }
  }

  /** The pump's source. Ends that were left out for their size are asked for again, in turn. */
  private @Nullable WatchWorkflowsResponse next() {
    List<RunId> leftOut = ends.leftOut();
    leftOut.forEach(this::watch);
    ends.askedAgain(leftOut.size());
    WatchWorkflowsResponse message = ends.next();
    if (message == null) {
      completeIfAnswered();
    }
    return message;
  }
}
