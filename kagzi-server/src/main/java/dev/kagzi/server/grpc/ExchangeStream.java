package dev.kagzi.server.grpc;

import dev.kagzi.engine.value.Refusal;
import dev.kagzi.protocol.v1.ExchangeRequest;
import dev.kagzi.protocol.v1.ExchangeResponse;
import io.grpc.Metadata;
import io.grpc.ServerMethodDefinition;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One caller's stream of calls. A handler sees each as a call of its own, which is cancelled when
 * the caller gives it up or the stream breaks. A server that stops takes no more calls and ends the
 * stream with the last answer.
 */
final class ExchangeStream implements StreamObserver<ExchangeRequest>, OpenCalls.OpenCall {
  /** As many as a connection may have calls of their own. */
  static final int CALLS_MAX = 10_000;

  private final OpenCalls calls;
  private final CallMemory memory;
  private final Map<String, ServerMethodDefinition<?, ?>> methods;
  private final ServerCallStreamObserver<ExchangeResponse> out;
  private final Map<Long, ExchangedCall<?, ?>> open = new ConcurrentHashMap<>();
  private final ReentrantLock sending = new ReentrantLock();
  // Bytes of answers that were written and that the stream has not passed on yet.
  private final AtomicLong unread = new AtomicLong();
  private volatile boolean last;
  private boolean completed;

  private ExchangeStream(
      EdgeRoom room,
      Map<String, ServerMethodDefinition<?, ?>> methods,
      ServerCallStreamObserver<ExchangeResponse> out) {
    this.calls = room.calls();
    this.memory = room.memory();
    this.methods = methods;
    this.out = out;
  }

  static StreamObserver<ExchangeRequest> open(
      EdgeRoom room,
      Map<String, ServerMethodDefinition<?, ?>> methods,
      ServerCallStreamObserver<ExchangeResponse> out) {
    ExchangeStream stream = new ExchangeStream(room, methods, out);
    out.setOnCancelHandler(stream::gone);
    out.setOnReadyHandler(stream::releaseRead);
    room.calls().add(stream);
    return stream;
  }

  @Override
  public void onNext(ExchangeRequest request) {
    ExchangedCall<?, ?> known = open.get(request.getCallId());
    if (request.getMethod().isEmpty()) {
      if (known != null) {
        known.giveUp();
      }
      return;
    }
    ServerMethodDefinition<?, ?> method = methods.get(request.getMethod());
    if (last) {
      refuse(request, Errors.stopping());
    } else if (known != null) {
      refuse(request, Refusal.invalid("call_id", request.getCallId(), "unused by an open call"));
    } else if (method == null) {
      refuse(request, Errors.unimplemented("method", Refusal.shorten(request.getMethod())));
    } else if (open.size() >= CALLS_MAX) {
      refuse(
          request,
          Refusal.of(
              Refusal.Reason.RESOURCE_EXHAUSTED,
              "call_id",
              "",
              "open calls: " + CALLS_MAX + " (expected: fewer, or another stream)"));
    } else {
      begin(method, request);
    }
  }

  private <Q, A> void begin(ServerMethodDefinition<Q, A> method, ExchangeRequest request) {
    ExchangedCall<Q, A> call =
        new ExchangedCall<>(
            method.getMethodDescriptor(), request.getCallId(), memory, this::answer);
    open.put(request.getCallId(), call);
    call.begin(method.getServerCallHandler(), request.getRequest());
    // A stop in between has counted it among the open ones, and a break has not seen it.
    if (out.isCancelled()) {
      gone();
    }
  }

  private void refuse(ExchangeRequest request, Refusal why) {
    StatusRuntimeException status = Errors.of(why);
    Metadata trailers = status.getTrailers();
    send(
        0,
        ExchangedCall.answer(
            request.getCallId(), status.getStatus(), trailers == null ? new Metadata() : trailers));
  }

  private void answer(ExchangeResponse response, long bytes) {
    send(bytes, response);
    open.remove(response.getCallId());
    completeIfLast();
  }

  private void send(long bytes, ExchangeResponse response) {
    unread.addAndGet(bytes);
    sending.lock();
    try {
      if (!completed) {
        out.onNext(response);
      }
    } finally {
      sending.unlock();
    }
    if (out.isReady() || out.isCancelled()) {
      releaseRead();
    }
  }

  private void releaseRead() {
    memory.releaseAnswer(unread.getAndSet(0));
  }

  private void completeIfLast() {
    if (last && open.isEmpty()) {
      sending.lock();
      try {
        if (!completed && !out.isCancelled()) {
          completed = true;
          calls.remove(this);
          out.onCompleted();
          // No event tells when a stream that has ended was read: what is left are its last
          // answers.
          releaseRead();
        }
      } finally {
        sending.unlock();
      }
    }
  }

  /** The caller will call no more. */
  @Override
  public void onCompleted() {
    last = true;
    completeIfLast();
  }

  @Override
  public void onError(Throwable broken) {
    gone();
  }

  private void gone() {
    calls.remove(this);
    open.values().forEach(ExchangedCall::giveUp);
    open.clear();
    releaseRead();
  }

  @Override
  public void end(Refusal why) {
    last = true;
    completeIfLast();
  }
}
