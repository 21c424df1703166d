package dev.kagzi.sdk.internal.wire;

import com.google.protobuf.ByteString;
import dev.kagzi.protocol.v1.ExchangeRequest;
import dev.kagzi.protocol.v1.ExchangeResponse;
import dev.kagzi.protocol.v1.ExchangeServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A channel whose small unary calls share one stream, opened with the first of them and again after
 * each break. gRPC's own work for a call, on both sides, is most of what a short run costs; a
 * message on an open stream spares most of that.
 *
 * <p>A call of its own is made for what is large, so that it holds up nobody; for what has a
 * deadline, which gRPC keeps; and for everything if the server knows no such stream. Thread-safe.
 */
final class Exchange extends Channel {
  private static final int SHARED_BYTES_MAX = 64 << 10;
  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

  private final Channel channel;
  private final ReentrantLock lock = new ReentrantLock();
  private final AtomicLong lastId = new AtomicLong();
  private @Nullable Stream stream;
  private volatile boolean unknown;

  Exchange(Channel channel) {
    this.channel = channel;
  }

  @Override
  public String authority() {
    return channel.authority();
  }

  @Override
  public <Q, A> ClientCall<Q, A> newCall(MethodDescriptor<Q, A> method, CallOptions options) {
    boolean shared =
        !unknown
            && method.getType() == MethodDescriptor.MethodType.UNARY
            && options.getDeadline() == null;
    return shared ? new Exchanged<>(method, options) : channel.newCall(method, options);
  }

  private void send(Exchanged<?, ?> call, ExchangeRequest request) {
    Stream open;
    lock.lock();
    try {
      open = stream;
      if (open == null) {
        open = new Stream();
        stream = open;
        open.begin();
      }
      call.stream = open;
      open.calls.put(call.id, call);
      open.requests().onNext(request);
    } finally {
      lock.unlock();
    }
    open.failIfBroken();
  }

  private void giveUp(Exchanged<?, ?> call) {
    lock.lock();
    try {
      Stream sent = call.stream;
      if (sent != null && sent.calls.remove(call.id) != null && sent.broken == null) {
        sent.requests().onNext(ExchangeRequest.newBuilder().setCallId(call.id).build());
      }
    } finally {
      lock.unlock();
    }
  }

  private record Broken(Status status, Metadata trailers) {}

  private final class Stream implements StreamObserver<ExchangeResponse> {
    final Map<Long, Exchanged<?, ?>> calls = new ConcurrentHashMap<>();
    volatile @Nullable Broken broken;
    private @Nullable StreamObserver<ExchangeRequest> requests;

    void begin() {
      requests = ExchangeServiceGrpc.newStub(channel).exchange(this);
    }

    StreamObserver<ExchangeRequest> requests() {
      StreamObserver<ExchangeRequest> opened = requests;
      if (opened == null) {
        throw new IllegalStateException("stream: not open (expected: begin() first)");
      }
      return opened;
    }

    @Override
    public void onNext(ExchangeResponse response) {
      Exchanged<?, ?> call = calls.remove(response.getCallId());
      if (call != null) {
        call.answered(response);
      }
    }

    @Override
    public void onError(Throwable error) {
      Status status = Status.fromThrowable(error);
      Metadata trailers = Status.trailersFromThrowable(error);
      if (status.getCode() == Status.Code.UNIMPLEMENTED) {
        unknown = true;
      }
      breaks(new Broken(status, trailers == null ? new Metadata() : trailers));
    }

    @Override
    public void onCompleted() {
      Status status = Status.UNAVAILABLE.withDescription("the server ended the stream of calls");
      breaks(new Broken(status, new Metadata()));
    }

    private void breaks(Broken why) {
      lock.lock();
      try {
        broken = why;
        if (stream == this) {
          stream = null;
        }
      } finally {
        lock.unlock();
      }
      failIfBroken();
    }

    /** Also for whoever has just called: a stream may break while it is being opened. */
    void failIfBroken() {
      Broken why = broken;
      if (why != null) {
        List<Exchanged<?, ?>> left = List.copyOf(calls.values());
        calls.clear();
        left.forEach(call -> call.broken(why));
      }
    }
  }

  private final class Exchanged<Q, A> extends ClientCall<Q, A> {
    final long id = lastId.incrementAndGet();
    private final MethodDescriptor<Q, A> method;
    private final CallOptions options;
    private final AtomicBoolean ended = new AtomicBoolean();
    private Listener<A> listener = new Listener<>() {};
    private Metadata headers = new Metadata();

    /** Under the lock. */
    private @Nullable Stream stream;

    private @Nullable Q message;
    private volatile @Nullable ClientCall<Q, A> ownCall;

    Exchanged(MethodDescriptor<Q, A> method, CallOptions options) {
      this.method = method;
      this.options = options;
    }

    @Override
    public void start(Listener<A> listener, Metadata headers) {
      this.listener = listener;
      this.headers = headers;
    }

    @Override
    public void request(int numMessages) {}

    @Override
    public void sendMessage(Q message) {
      ByteString bytes = bytes(message);
      this.message = message;
      if (bytes.size() > SHARED_BYTES_MAX) {
        callByItself(message);
      } else {
        send(
            this,
            ExchangeRequest.newBuilder()
                .setCallId(id)
                .setMethod(method.getFullMethodName())
                .setRequest(bytes)
                .build());
      }
    }

    private ByteString bytes(Q message) {
      try (InputStream stream = method.streamRequest(message)) {
        return ByteString.readFrom(stream);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private void callByItself(Q message) {
      ClientCall<Q, A> call = channel.newCall(method, options);
      ownCall = call;
      call.start(listener, headers);
      call.request(2);
      call.sendMessage(message);
      call.halfClose();
    }

    @Override
    public void halfClose() {}

    @Override
    public void cancel(@Nullable String message, @Nullable Throwable cause) {
      ClientCall<Q, A> own = ownCall;
      if (own != null) {
        own.cancel(message, cause);
        return;
      }
      giveUp(this);
      end(Status.CANCELLED.withDescription(message).withCause(cause), new Metadata());
    }

    void answered(ExchangeResponse response) {
      if (response.getCode() != Status.Code.OK.value()) {
        Metadata trailers = new Metadata();
        trailers.put(DETAILS, response.getDetails().toByteArray());
        end(
            Status.fromCodeValue(response.getCode()).withDescription(response.getMessage()),
            trailers);
        return;
      }
      A message;
      try {
        message = method.parseResponse(response.getResponse().newInput());
      } catch (RuntimeException unreadable) {
        end(
            Status.INTERNAL.withDescription("unreadable answer").withCause(unreadable),
            new Metadata());
        return;
      }
      if (ended.compareAndSet(false, true)) {
        listener.onMessage(message);
        listener.onClose(Status.OK, new Metadata());
      }
    }

    /** A server that does not know the stream has not seen the call either. */
    void broken(Broken why) {
      Q unseen = message;
      if (why.status.getCode() == Status.Code.UNIMPLEMENTED && unseen != null && !ended.get()) {
        callByItself(unseen);
      } else {
        end(why.status, why.trailers);
      }
    }

    void end(Status status, Metadata trailers) {
      if (ended.compareAndSet(false, true)) {
        listener.onClose(status, trailers);
      }
    }
  }
}
