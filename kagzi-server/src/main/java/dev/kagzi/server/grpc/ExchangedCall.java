package dev.kagzi.server.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import dev.kagzi.protocol.v1.ExchangeResponse;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A unary call that came over a shared stream; its answer goes back as one message. */
final class ExchangedCall<Q, A> extends ServerCall<Q, A> {
  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

  private final MethodDescriptor<Q, A> method;
  private final long id;
  private final CallMemory memory;
  private final Out out;
  private long requestBytes;
  private final AtomicLong answerBytes = new AtomicLong();
  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile boolean cancelled;
  private volatile @Nullable Listener<Q> listener;
  private @Nullable A message;

  /** Takes the end of a call, and the room that its answer has in memory. */
  interface Out {
    void accept(ExchangeResponse response, long bytes);
  }

  ExchangedCall(MethodDescriptor<Q, A> method, long id, CallMemory memory, Out out) {
    this.method = method;
    this.id = id;
    this.memory = memory;
    this.out = out;
  }

  void begin(ServerCallHandler<Q, A> handler, ByteString request) {
    try {
      memory.acquireRequest(request.size());
      requestBytes = request.size();
      Listener<Q> begun = handler.startCall(this, new Metadata());
      listener = begun;
      begun.onMessage(method.parseRequest(request.newInput()));
      begun.onHalfClose();
    } catch (RuntimeException e) {
      // It must not break the stream, which carries other calls.
      Errors.close(this, e);
    }
  }

  /** Nobody waits for the answer any more. */
  void giveUp() {
    cancelled = true;
    Listener<Q> begun = listener;
    if (ended.compareAndSet(false, true)) {
      memory.releaseRequest(requestBytes);
      memory.releaseAnswer(answerBytes.getAndSet(0));
      if (begun != null) {
        begun.onCancel();
      }
    }
  }

  @Override
  public void request(int numMessages) {}

  @Override
  public void sendHeaders(Metadata headers) {}

  @Override
  public void sendMessage(A message) {
    long bytes = ((MessageLite) message).getSerializedSize();
    memory.acquireAnswer(bytes);
    answerBytes.set(bytes);
    this.message = message;
  }

  @Override
  public void close(Status status, Metadata trailers) {
    if (!ended.compareAndSet(false, true)) {
      memory.releaseAnswer(answerBytes.getAndSet(0));
      return;
    }
    A answer = message;
    memory.releaseRequest(requestBytes);
    out.accept(
        status.isOk() && answer != null
            ? ExchangeResponse.newBuilder().setCallId(id).setResponse(bytes(answer)).build()
            : answer(id, status, trailers),
        answerBytes.getAndSet(0));
  }

  private ByteString bytes(A answer) {
    try (InputStream stream = method.streamResponse(answer)) {
      return ByteString.readFrom(stream);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The end of a call that has no response. */
  static ExchangeResponse answer(long id, Status status, Metadata trailers) {
    ExchangeResponse.Builder response =
        ExchangeResponse.newBuilder().setCallId(id).setCode(status.getCode().value());
    String description = status.getDescription();
    if (description != null) {
      response.setMessage(description);
    }
    byte[] details = trailers.get(DETAILS);
    if (details != null) {
      response.setDetails(ByteString.copyFrom(details));
    }
    return response.build();
  }

  @Override
  public boolean isCancelled() {
    return cancelled;
  }

  @Override
  public MethodDescriptor<Q, A> getMethodDescriptor() {
    return method;
  }
}
