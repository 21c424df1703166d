package dev.kagzi.server.grpc;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.AttachListener;
import dev.kagzi.engine.worker.Attachment;
import dev.kagzi.engine.worker.Workers;
import dev.kagzi.protocol.v1.AttachResponse;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The stream that is open for as long as its worker lives. Its break is the engine's first sign
 * that the worker died; a worker that does not read what it is told is cut off, for it will not
 * stop what it must stop.
 */
final class AttachStream implements AttachListener, OpenCalls.OpenCall {
  private static final int EVENTS_MAX = 10_000;

  private final OpenCalls calls;
  private final Queue<AttachResponse> events = new ArrayBlockingQueue<>(EVENTS_MAX);
  private final StreamSender<AttachResponse> pump;
  private volatile @Nullable Attachment attachment;
  private volatile boolean closed;

  private AttachStream(
      OpenCalls calls, ServerCallStreamObserver<AttachResponse> out, Executor executor) {
    this.calls = calls;
    this.pump = new StreamSender<>(out, executor, events::poll);
  }

  static void open(
      OpenCalls calls,
      Workers workers,
      String namespace,
      WorkerId worker,
      StreamObserver<AttachResponse> caller,
      Executor executor) {
    ServerCallStreamObserver<AttachResponse> out = UnaryResponses.stream(caller);
    AttachStream stream = new AttachStream(calls, out, executor);
    stream.pump.start(stream::close);
    calls.add(stream);
    if (!stream.closed) {
      stream.begin(workers, namespace, worker);
    }
  }

  private void begin(Workers workers, String namespace, WorkerId worker) {
    try {
      attachment = workers.attach(namespace, worker, this);
    } catch (RuntimeException e) {
      fail(e);
      return;
    }
    if (closed) {
      close();
    }
  }

  @Override
  public void attached() {
    if (closed) {
      // The stream broke while the worker was being attached: let go of it once more.
      close();
    } else {
      offer(ResponseMapper.attached());
    }
  }

  @Override
  public void stop(List<Claim> claims, RunStatus status) {
    offer(ResponseMapper.stop(claims, status));
  }

  // Dropped when nobody reads: workers ask from time to time in any case.
  @Override
  public void wake(List<Claim> claims) {
    if (events.offer(ResponseMapper.wake(claims))) {
      pump.wake();
    }
  }

  @Override
  public void drain() {
    offer(ResponseMapper.drain());
  }

  @Override
  public void closed(Refusal why) {
    fail(why);
  }

  @Override
  public void end(Refusal why) {
    fail(why);
  }

  private void offer(AttachResponse event) {
    if (events.offer(event)) {
      pump.wake();
    } else {
      fail(
          Refusal.of(
              Refusal.Reason.RESOURCE_EXHAUSTED,
              "attach",
              "",
              "unread events: " + EVENTS_MAX + " (expected: a worker that reads its stream)"));
    }
  }

  private void fail(RuntimeException problem) {
    close();
    pump.fail(GrpcErrors.of(problem));
  }

  private void close() {
    closed = true;
    calls.remove(this);
    Attachment begun = attachment;
    if (begun != null) {
      begun.close();
    }
  }
}
