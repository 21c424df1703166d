package dev.kagzi.server.grpc;

import dev.kagzi.engine.run.RunCompletions;
import dev.kagzi.engine.run.RunEnd;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.protocol.v1.WatchWorkflowsRequest;
import dev.kagzi.protocol.v1.WatchWorkflowsResponse;
import dev.kagzi.protocol.v1.WorkflowEnd;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * One client's stream of run completions. Each watched run is answered once. Completions that
 * arrive while a message is being sent are combined in the next.
 *
 * <p>When the client has half-closed the stream, the stream completes after the last answer.
 */
final class WatchStream implements StreamObserver<WatchWorkflowsRequest>, OpenCalls.OpenCall {
  static final int RUNS_MAX = 100_000;

  private final OpenCalls calls;
  private final RunCompletions completions;
  private final CompletionQueue queue;
  private final StreamSender<WatchWorkflowsResponse> sender;
  private final Map<RunId, Watched> open = new ConcurrentHashMap<>();
  private @Nullable String namespace;
  private volatile boolean halfClosed;
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

  private WatchStream(GrpcContext context, StreamObserver<WatchWorkflowsResponse> caller) {
    this.calls = context.calls();
    this.completions = context.engine().completions();
    this.queue = new CompletionQueue(context.memory());
    this.sender =
        new StreamSender<>(
            UnaryResponses.stream(caller),
            context.senders(),
            this::next,
            // The source completes a half-closed stream when it has no message left.
            () -> queue.size() == 0 && !halfClosed);
  }

  static StreamObserver<WatchWorkflowsRequest> open(
      GrpcContext context, StreamObserver<WatchWorkflowsResponse> caller) {
    WatchStream stream = new WatchStream(context, caller);
    stream.sender.start(stream::close);
    context.calls().add(stream);
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
        RunId.parse(id).ifPresent(this::unwatch);
      }
      for (String id : request.getWatchRunIdsList()) {
        watchId(id);
      }
    } catch (RuntimeException e) {
      fail(e);
    }
  }

  @Override
  public void onError(Throwable cancelled) {
    close();
  }

  @Override
  public void onCompleted() {
    halfClosed = true;
    completeIfAnswered();
  }

  @Override
  public void end(Refusal why) {
    fail(why);
  }

  private void fail(RuntimeException problem) {
    close();
    sender.fail(GrpcErrors.of(problem));
  }

  private void close() {
    closed = true;
    calls.remove(this);
    for (RunId run : open.keySet()) {
      unwatch(run);
    }
    queue.close();
  }

  // An invalid id is answered as not found. The stream continues, because it carries other runs
  // too.
  private void watchId(String id) {
    if (open.size() + queue.size() >= RUNS_MAX) {
      throw Refusal.of(
          Refusal.Reason.RESOURCE_EXHAUSTED,
          "watch_run_ids",
          "",
          "watched runs: more than " + RUNS_MAX + " (expected: fewer, or another stream)");
    }
    Optional<RunId> run = RunId.parse(id);
    if (run.isPresent()) {
      watch(run.get());
    } else {
      queue.add(WorkflowEnd.newBuilder().setRunId(Refusal.shorten(id)).setNotFound(true).build());
      sender.wake();
    }
  }

  private void watch(RunId run) {
    Watched watched = new Watched();
    if (open.putIfAbsent(run, watched) != null) {
      return;
    }
    watched.watch =
        completions.watch(String.valueOf(namespace), run, end -> ended(run, watched, end));
    if (closed || open.get(run) != watched) {
      open.remove(run, watched);
      watched.close();
    }
  }

  private void unwatch(RunId run) {
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
    // Queue the completion before the run is removed from the open ones: otherwise the stream could
    // complete in between.
    queue.add(run, end);
    open.remove(run, watched);
    sender.wake();
    completeIfAnswered();
  }

  private void completeIfAnswered() {
    if (halfClosed && !closed && open.isEmpty() && !queue.hasDeferred()) {
      calls.remove(this);
      sender.complete();
    }
  }

  /** The sender's source. Queries deferred completions again before it returns the next message. */
  private @Nullable WatchWorkflowsResponse next() {
    List<RunId> deferred = queue.deferred();
    deferred.forEach(this::watch);
    queue.removeDeferred(deferred.size());
    WatchWorkflowsResponse message = queue.next();
    if (message == null) {
      completeIfAnswered();
    }
    return message;
  }
}
