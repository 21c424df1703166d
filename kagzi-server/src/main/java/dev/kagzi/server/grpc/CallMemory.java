package dev.kagzi.server.grpc;

import com.google.protobuf.MessageLite;
import dev.kagzi.engine.memory.ByteBudget;
import dev.kagzi.engine.memory.MemoryConfig;
import dev.kagzi.engine.value.Refusal;
import io.grpc.Context;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Bounds in bytes what calls hold in memory: requests from their first byte to the end of their
 * call, answers until their reader has taken them. Who comes when nothing is free is refused with
 * RESOURCE_EXHAUSTED. Small messages may exceed the bounds by half, so that heartbeats and reports
 * go on while large calls are refused.
 *
 * <p>A request counts while it is being read, before there is a message: many callers at once fill
 * memory with halves of messages. Thread-safe.
 */
final class CallMemory implements ServerInterceptor {
  private static final int SMALL_BYTES_MAX = 16 << 10;
  private static final Context.Key<Reading> READING = Context.key("kagzi-reading");

  private final ByteBudget requests;
  private final ByteBudget answers;

  CallMemory(MemoryConfig config) {
    this.requests = new ByteBudget(config.requestBytesMax());
    this.answers = new ByteBudget(config.answerBytesMax());
  }

  /** Takes room for an answer that is about to be written. */
  void acquireAnswer(long bytes) {
    if (!acquire(answers, bytes, bytes)) {
      throw full("answers that are not read yet", answers);
    }
  }

  /** The same for something that can be left out; never past the bound. */
  boolean tryAcquireAnswer(long bytes) {
    return answers.tryAcquire(bytes);
  }

  /** Counts an answer that is there already. */
  void addAnswer(long bytes) {
    answers.add(bytes);
  }

  void releaseAnswer(long bytes) {
    answers.release(bytes);
  }

  private static boolean acquire(ByteBudget budget, long bytes, long all) {
    return all <= SMALL_BYTES_MAX ? budget.tryAcquireSmall(bytes) : budget.tryAcquire(bytes);
  }

  private static Refusal full(String what, ByteBudget budget) {
    return Refusal.of(
        Refusal.Reason.RESOURCE_EXHAUSTED,
        "memory",
        "",
        "%s: %d bytes (expected: at most %d in all, see call-memory-percent; try again later)"
            .formatted(what, budget.held(), budget.bytesMax()));
  }

  /** Counts what arrives for each call; for calls that come over the network. */
  ServerStreamTracer.Factory tracers() {
    return new ServerStreamTracer.Factory() {
      @Override
      public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
        return new Reading();
      }
    };
  }

  /** One call's request. Its methods are called by the thread that reads from the connection. */
  private final class Reading extends ServerStreamTracer {
    private final AtomicLong held = new AtomicLong();
    private long uncompressed;
    private @Nullable ServerCall<?, ?> call;
    private boolean refused;

    @Override
    public Context filterContext(Context context) {
      return context.withValue(READING, this);
    }

    @Override
    public void inboundWireSize(long bytes) {
      hold(bytes);
    }

    /** What a message is once it is decompressed. */
    @Override
    public void inboundUncompressedSize(long bytes) {
      uncompressed += bytes;
      if (isOneMessage()) {
        hold(Math.max(0, uncompressed - held.get()));
      }
    }

    private void hold(long bytes) {
      if (refused || bytes == 0) {
        return;
      }
      if (acquire(requests, bytes, held.get() + bytes)) {
        held.addAndGet(bytes);
        return;
      }
      refused = true;
      ServerCall<?, ?> reads = call;
      if (reads != null) {
        GrpcErrors.close(reads, full("requests being read", requests));
      }
      release();
    }

    /** A message of a stream of messages counts until it is read: its handler does the rest. */
    @Override
    public void inboundMessageRead(int number, long wireBytes, long uncompressedBytes) {
      if (!isOneMessage()) {
        release();
      }
    }

    private boolean isOneMessage() {
      ServerCall<?, ?> reads = call;
      return reads == null || reads.getMethodDescriptor().getType().clientSendsOneMessage();
    }

    @Override
    public void streamClosed(Status status) {
      refused = true;
      release();
    }

    private void release() {
      requests.release(held.getAndSet(0));
    }
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    Reading reading = READING.get();
    if (reading != null) {
      reading.call = call;
    }
    Writing<Q, A> writing = new Writing<>(call);
    return new Listener<>(next.startCall(writing, headers), reading, writing);
  }

  /** One call's answers: they count while the stream is not ready for more. */
  private final class Writing<Q, A> extends SimpleForwardingServerCall<Q, A> {
    private final AtomicLong held = new AtomicLong();
    private volatile boolean ended;

    Writing(ServerCall<Q, A> call) {
      super(call);
    }

    @Override
    public void sendMessage(A message) {
      long bytes = ((MessageLite) message).getSerializedSize();
      acquireAnswer(bytes);
      held.addAndGet(bytes);
      super.sendMessage(message);
      // A handler may answer a caller that has gone: no event will follow.
      if (ended || isReady()) {
        release();
      }
    }

    void release() {
      releaseAnswer(held.getAndSet(0));
    }

    void end() {
      ended = true;
      release();
    }
  }

  private static final class Listener<Q> extends SimpleForwardingServerCallListener<Q> {
    private final @Nullable Reading reading;
    private final CallMemory.Writing<?, ?> writing;

    Listener(
        ServerCall.Listener<Q> handler,
        @Nullable Reading reading,
        CallMemory.Writing<?, ?> writing) {
      super(handler);
      this.reading = reading;
      this.writing = writing;
    }

    private boolean isRefused() {
      return reading != null && reading.refused;
    }

    @Override
    public void onMessage(Q message) {
      if (!isRefused()) {
        super.onMessage(message);
      }
    }

    @Override
    public void onHalfClose() {
      if (!isRefused()) {
        super.onHalfClose();
      }
    }

    @Override
    public void onReady() {
      writing.release();
      super.onReady();
    }

    @Override
    public void onComplete() {
      writing.end();
      super.onComplete();
    }

    @Override
    public void onCancel() {
      writing.end();
      super.onCancel();
    }
  }
}
