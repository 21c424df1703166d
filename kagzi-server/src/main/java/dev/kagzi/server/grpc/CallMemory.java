package dev.kagzi.server.grpc;

import com.google.protobuf.MessageLite;
import dev.kagzi.engine.config.MemoryConfig;
import dev.kagzi.engine.memory.ByteBudget;
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
 * Limits the bytes that calls hold in memory. A request counts from its first byte, because many
 * callers could fill memory with partial messages, to the end of its call; in a client stream,
 * until the message is read. Responses count until the stream is ready for more. Above the limit,
 * calls are refused with RESOURCE_EXHAUSTED. Small messages may exceed the limit by half, so that
 * heartbeats and reports continue while large calls are refused. Thread-safe.
 */
final class CallMemory implements ServerInterceptor {
  private static final int SMALL_BYTES_MAX = 16 << 10;
  private static final Context.Key<RequestBytes> REQUEST_BYTES = Context.key("kagzi-request-bytes");

  private final ByteBudget requests;
  private final ByteBudget answers;

  CallMemory(MemoryConfig config) {
    this.requests = new ByteBudget(config.requestBytesMax());
    this.answers = new ByteBudget(config.answerBytesMax());
  }

  void reserveResponse(long bytes) {
    if (!acquire(answers, bytes, bytes)) {
      throw full("answers that are not read yet", answers);
    }
  }

  /** Reserves memory for a response that can be deferred; never exceeds the limit. */
  boolean tryReserveResponse(long bytes) {
    return answers.tryAcquire(bytes);
  }

  void addResponse(long bytes) {
    answers.add(bytes);
  }

  void releaseResponse(long bytes) {
    answers.release(bytes);
  }

  private static boolean acquire(ByteBudget budget, long bytes, long total) {
    return total <= SMALL_BYTES_MAX ? budget.tryAcquireSmall(bytes) : budget.tryAcquire(bytes);
  }

  private static Refusal full(String what, ByteBudget budget) {
    return Refusal.of(
        Refusal.Reason.RESOURCE_EXHAUSTED,
        "memory",
        "",
        "%s: %d bytes (expected: at most %d in all, see call-memory-percent; try again later)"
            .formatted(what, budget.held(), budget.bytesMax()));
  }

  ServerStreamTracer.Factory tracers() {
    return new ServerStreamTracer.Factory() {
      @Override
      public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
        return new RequestBytes();
      }
    };
  }

  /** Counts one call's request bytes. The thread that reads the connection calls its methods. */
  private final class RequestBytes extends ServerStreamTracer {
    private final AtomicLong held = new AtomicLong();
    private long uncompressed;
    private @Nullable ServerCall<?, ?> call;
    private boolean refused;

    @Override
    public Context filterContext(Context context) {
      return context.withValue(REQUEST_BYTES, this);
    }

    @Override
    public void inboundWireSize(long bytes) {
      hold(bytes);
    }

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
      ServerCall<?, ?> current = call;
      if (current != null) {
        GrpcErrors.close(current, full("requests being read", requests));
      }
      release();
    }

    @Override
    public void inboundMessageRead(int number, long wireBytes, long uncompressedBytes) {
      if (!isOneMessage()) {
        release();
      }
    }

    private boolean isOneMessage() {
      ServerCall<?, ?> current = call;
      return current == null || current.getMethodDescriptor().getType().clientSendsOneMessage();
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
    RequestBytes requestBytes = REQUEST_BYTES.get();
    if (requestBytes != null) {
      requestBytes.call = call;
    }
    ResponseBytes<Q, A> responseBytes = new ResponseBytes<>(call);
    return new Listener<>(next.startCall(responseBytes, headers), requestBytes, responseBytes);
  }

  /** Counts one call's responses while the stream is not ready for more. */
  private final class ResponseBytes<Q, A> extends SimpleForwardingServerCall<Q, A> {
    private final AtomicLong held = new AtomicLong();
    private volatile boolean ended;

    ResponseBytes(ServerCall<Q, A> call) {
      super(call);
    }

    @Override
    public void sendMessage(A message) {
      long bytes = ((MessageLite) message).getSerializedSize();
      reserveResponse(bytes);
      held.addAndGet(bytes);
      super.sendMessage(message);
      // If the caller has gone, no event follows that would release the bytes.
      if (ended || isReady()) {
        release();
      }
    }

    void release() {
      releaseResponse(held.getAndSet(0));
    }

    void end() {
      ended = true;
      release();
    }
  }

  private static final class Listener<Q> extends SimpleForwardingServerCallListener<Q> {
    private final @Nullable RequestBytes requestBytes;
    private final CallMemory.ResponseBytes<?, ?> responseBytes;

    Listener(
        ServerCall.Listener<Q> handler,
        @Nullable RequestBytes requestBytes,
        CallMemory.ResponseBytes<?, ?> responseBytes) {
      super(handler);
      this.requestBytes = requestBytes;
      this.responseBytes = responseBytes;
    }

    private boolean isRefused() {
      return requestBytes != null && requestBytes.refused;
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
      responseBytes.release();
      super.onReady();
    }

    @Override
    public void onComplete() {
      responseBytes.end();
      super.onComplete();
    }

    @Override
    public void onCancel() {
      responseBytes.end();
      super.onCancel();
    }
  }
}
