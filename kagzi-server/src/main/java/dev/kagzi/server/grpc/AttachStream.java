package dev.kagzi.server.grpc;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;
import dev.kagzi.engine.value.WorkerId;
import dev.kagzi.engine.worker.AttachListener;
import dev.kagzi.engine.worker.Attachment;
import dev.kagzi.engine.worker.Workers;
import dev.kagzi.protocol.v1.AttachResponse;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * The stream that stays open as long as its worker lives. If the stream breaks, and the worker
 * neither attaches again nor sends a heartbeat soon, the engine assumes that the worker died. A
 * worker that does not read its events is disconnected, because it would not stop runs that it must
 * stop.
 */
final class AttachStream implements AttachListener, OpenCalls.OpenCall {
  private static final int EVENTS_MAX = 10_000;

  private final OpenCalls calls;
  private final Queue<AttachResponse> events = new ArrayBlockingQueue<>(EVENTS_MAX);
  private final StreamSender<AttachResponse> sender;
  private volatile @Nullable Attachment attachment;
  private volatile boolean closed;

  private AttachStream(GrpcContext context, StreamObserver<AttachResponse> caller) {
    this.calls = context.calls();
    this.sender =
        new StreamSender<>(
            UnaryResponses.stream(caller), context.senders(), events::poll, events::isEmpty);
  }

  static void open(
      GrpcContext context,
      String namespace,
      WorkerId worker,
      StreamObserver<AttachResponse> caller) {
    AttachStream stream = new AttachStream(context, caller);
    stream.sender.start(stream::close);
    stream.calls.add(stream);
    if (!stream.closed) {
      stream.begin(context.engine().workers(), namespace, worker);
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
      // The stream broke while the engine attached the worker: detach it again.
      close();
    } else {
      offer(ResponseMapper.attached());
    }
  }

  @Override
  public void stop(List<Claim> claims, RunStatus status) {
    offer(ResponseMapper.stop(claims, status));
  }

  // Dropped if the queue is full: workers also ask for results periodically.
  @Override
  public void stepEnded(List<Claim> claims) {
    if (events.offer(ResponseMapper.stepEnded(claims))) {
      sender.wake();
    }
  }

  // Dropped if the queue is full: the answer to the worker's next heartbeat lists these claims too.
  @Override
  public void cancelRequested(List<Claim> claims) {
    if (events.offer(ResponseMapper.cancelRequested(claims))) {
      sender.wake();
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
      sender.wake();
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
    sender.fail(GrpcErrors.of(problem));
  }

  private void close() {
    closed = true;
    calls.remove(this);
    Attachment current = attachment;
    if (current != null) {
      current.close();
    }
  }
}
