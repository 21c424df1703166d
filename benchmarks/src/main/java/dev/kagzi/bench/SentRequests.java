package dev.kagzi.bench;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.MethodDescriptor;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the messages that the SDK sends to the server: a unary call is one request, and so is each
 * message of a stream. Thread-safe.
 */
final class SentRequests implements ClientInterceptor {
  private final LongAdder sent = new LongAdder();

  long sum() {
    return sent.sum();
  }

  @Override
  public <Q, A> ClientCall<Q, A> interceptCall(
      MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
    return new SimpleForwardingClientCall<Q, A>(next.newCall(method, options)) {
      @Override
      public void sendMessage(Q message) {
        sent.increment();
        super.sendMessage(message);
      }
    };
  }
}
