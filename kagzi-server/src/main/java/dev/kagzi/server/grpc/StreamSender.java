package dev.kagzi.server.grpc;

import io.grpc.stub.ServerCallStreamObserver;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Moves messages from a source into a stream, one thread at a time and only while the stream takes
 * them: what a slow reader does not take stays with the source, which knows how to bound it.
 *
 * <p>Whoever has something new calls {@link #wake()}, from any thread and without waiting. Wakes
 * that come while the pump works are one more round, so that under load the source sees many items
 * at once and can send them as one message. A pump that has rested works on the thread that wakes
 * it: a change of threads would be most of what a single message costs.
 */
final class StreamSender<M> {
  private final ServerCallStreamObserver<M> stream;
  private final Executor executor;
  private final Supplier<@Nullable M> source;
  private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final AtomicInteger wakes = new AtomicInteger();
  private volatile long restsSinceNanos = System.nanoTime() - REST_NANOS;
  private volatile @Nullable Ending ending;
  private boolean closed;

  // How the stream is to end: null for completion. With drain, after what the source still has.
  private record Ending(@Nullable RuntimeException problem, boolean drain) {}

  /** The source gives the next message, or null when there is none for now. */
  StreamSender(
      ServerCallStreamObserver<M> stream, Executor executor, Supplier<@Nullable M> source) {
    this.stream = stream;
    this.executor = executor;
    this.source = source;
  }

  /**
   * Listens to the stream. Called by the handler's own thread, before it returns.
   *
   * @param onEnd runs when the client has cancelled the stream, and also when this server has
   *     closed it: gRPC reports the two to different handlers. It may run more than once.
   */
  void start(Runnable onEnd) {
    stream.setOnCancelHandler(onEnd);
    stream.setOnCloseHandler(onEnd);
    stream.setOnReadyHandler(this::wake);
  }

  /** Something may be there to send, or room to send it. */
  void wake() {
    if (wakes.getAndIncrement() == 0) {
      if (System.nanoTime() - restsSinceNanos > REST_NANOS) {
        run();
      } else {
        executor.execute(this::run);
      }
    }
  }

  /** Completes the stream once the source has nothing more. */
  void complete() {
    endWith(new Ending(null, true));
  }

  /** Ends the stream without sending what is left. */
  void fail(RuntimeException problem) {
    endWith(new Ending(problem, false));
  }

  private void endWith(Ending wanted) {
    ending = wanted;
    wake();
  }

  private void run() {
    int seen = wakes.get();
    do {
      pump();
      restsSinceNanos = System.nanoTime();
      seen = wakes.addAndGet(-seen);
    } while (seen != 0);
  }

  private void pump() {
    if (closed || stream.isCancelled()) {
      return;
    }
    Ending wanted = ending;
    boolean empty = true;
    if (wanted == null || wanted.drain()) {
      empty = sendWhileReady();
    }
    if (wanted != null && empty && !closed) {
      close(wanted.problem());
    }
  }

  /** True when the source has nothing more; false when the stream takes nothing more. */
  private boolean sendWhileReady() {
    try {
      while (stream.isReady()) {
        M message = source.get();
        if (message == null) {
          return true;
        }
        stream.onNext(message);
      }
      return false;
    } catch (RuntimeException e) {
      close(GrpcErrors.of(e));
      return true;
    }
  }

  private void close(@Nullable RuntimeException problem) {
    closed = true;
    if (problem == null) {
      stream.onCompleted();
    } else {
      stream.onError(problem);
    }
  }
}
