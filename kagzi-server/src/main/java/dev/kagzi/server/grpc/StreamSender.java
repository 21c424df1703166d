package dev.kagzi.server.grpc;

import io.grpc.stub.ServerCallStreamObserver;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Moves messages from a source into a stream, on one thread at a time and only while the stream is
 * ready. Messages that a slow client does not take stay in the source, which limits them.
 *
 * <p>Producers call {@link #wake()} from any thread; it does not block. Wake-ups during a send
 * cause one more round, so that under load the source can combine many items into one message.
 * After an idle time the sender runs on the thread that wakes it: a thread switch would cost more
 * than sending a single message.
 */
final class StreamSender<M> {
  private final ServerCallStreamObserver<M> stream;
  private final Executor executor;
  private final Supplier<@Nullable M> source;
  private final BooleanSupplier isEmpty;

  // Shorter than one run takes alone, so that a caller that starts one run after the other does not
  // pay for a thread switch at each result.
  private static final long IDLE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private final AtomicInteger wakes = new AtomicInteger();
  private volatile long idleSinceNanos = System.nanoTime() - IDLE_NANOS;
  private volatile @Nullable StreamEnd ending;
  private boolean closed;

  // How the stream ends: a null problem means success. With drain, the remaining messages of the
  // source are sent first.
  private record StreamEnd(@Nullable RuntimeException problem, boolean drain) {}

  /**
   * @param source returns the next message, or null if there is none now
   * @param isEmpty whether the source has no message; called by any thread
   */
  StreamSender(
      ServerCallStreamObserver<M> stream,
      Executor executor,
      Supplier<@Nullable M> source,
      BooleanSupplier isEmpty) {
    this.stream = stream;
    this.executor = executor;
    this.source = source;
    this.isEmpty = isEmpty;
  }

  /**
   * Registers the stream's handlers. Call on the handler's thread, before it returns.
   *
   * @param onEnd runs when the client has cancelled the stream, and also when this server has
   *     closed it: gRPC reports the two to different handlers. It may run more than once.
   */
  void start(Runnable onEnd) {
    stream.setOnCancelHandler(onEnd);
    stream.setOnCloseHandler(onEnd);
    stream.setOnReadyHandler(this::ready);
  }

  /** Call when the source may have a message or the stream may be ready again. */
  void wake() {
    if (wakes.getAndIncrement() == 0) {
      if (System.nanoTime() - idleSinceNanos > IDLE_NANOS) {
        run();
      } else {
        executor.execute(this::run);
      }
    }
  }

  // gRPC calls it after each message that the client has taken. Mostly there is no other one, and a
  // wake-up would only start the executor's thread.
  private void ready() {
    if (ending != null || !isEmpty.getAsBoolean()) {
      wake();
    }
  }

  void complete() {
    endWith(new StreamEnd(null, true));
  }

  void fail(RuntimeException problem) {
    endWith(new StreamEnd(problem, false));
  }

  private void endWith(StreamEnd wanted) {
    ending = wanted;
    wake();
  }

  private void run() {
    int seen = wakes.get();
    do {
      sendAndClose();
      idleSinceNanos = System.nanoTime();
      seen = wakes.addAndGet(-seen);
    } while (seen != 0);
  }

  private void sendAndClose() {
    if (closed || stream.isCancelled()) {
      return;
    }
    StreamEnd wanted = ending;
    boolean empty = true;
    if (wanted == null || wanted.drain()) {
      empty = sendWhileReady();
    }
    if (wanted != null && empty && !closed) {
      close(wanted.problem());
    }
  }

  /** Returns false if the stream is not ready; true if the source is empty, or sending failed. */
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
