package dev.kagzi.server.grpc;

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** How an answer of the engine becomes the end of a unary call, whatever the answer is. */
final class Calls {
  private Calls() {}

  /**
   * Starts {@code call} on the present thread and answers when its future completes, on the thread
   * that completes it.
   */
  static <T, M> void answer(
      StreamObserver<M> caller, Supplier<CompletableFuture<T>> call, Function<T, M> reply) {
    ignoreCancel(caller);
    CompletableFuture<T> answer;
    try {
      answer = call.get();
    } catch (RuntimeException e) {
      caller.onError(Errors.of(e));
      return;
    }
    answer.whenComplete((value, problem) -> send(caller, value, problem, reply));
  }

  private static <T, M> void send(
      StreamObserver<M> caller, T value, @Nullable Throwable problem, Function<T, M> reply) {
    if (problem != null) {
      caller.onError(Errors.of(problem));
      return;
    }
    send(caller, () -> reply.apply(value));
  }

  /** Answers with what {@code reply} gives, or with why it gave nothing. */
  static <M> void send(StreamObserver<M> caller, Supplier<M> reply) {
    M message;
    try {
      message = reply.get();
    } catch (RuntimeException e) {
      caller.onError(Errors.of(e));
      return;
    }
    caller.onNext(message);
    caller.onCompleted();
  }

  /**
   * Lets an answer to a caller that has gone fall on the floor; without a handler the observer
   * throws into the thread that brings the answer. Only valid before the handler returns.
   */
  static <M> void ignoreCancel(StreamObserver<M> caller) {
    stream(caller).setOnCancelHandler(() -> {});
  }

  /** The whole interface of what the stubs hand in. */
  static <M> ServerCallStreamObserver<M> stream(StreamObserver<M> caller) {
    return (ServerCallStreamObserver<M>) caller;
  }
}
