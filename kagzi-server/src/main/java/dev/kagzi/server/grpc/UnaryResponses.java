package dev.kagzi.server.grpc;

import dev.kagzi.engine.value.Refusal;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** How an answer of the engine becomes the end of a unary call, whatever the answer is. */
final class UnaryResponses {
  private UnaryResponses() {}

  /**
   * From so many items on, an answer is written on a thread of the edge instead of the engine's,
   * which has the next commit to see to. Below, the change of threads would cost more.
   */
  private static final int ITEMS_ASIDE = 8;

  /**
   * Starts {@code call} on the present thread and answers when its future completes, on the thread
   * that completes it.
   */
  static <T, M> void answer(
      StreamObserver<M> caller, Supplier<CompletableFuture<T>> call, Function<T, M> reply) {
    answer(caller, Runnable::run, call, reply);
  }

  /** The same; the answer is written where {@code writer} says. */
  static <T, M> void answer(
      StreamObserver<M> caller,
      Executor writer,
      Supplier<CompletableFuture<T>> call,
      Function<T, M> reply) {
    ignoreCancel(caller);
    CompletableFuture<T> answer;
    try {
      answer = call.get();
    } catch (RuntimeException e) {
      caller.onError(GrpcErrors.of(e));
      return;
    }
    answer.whenComplete(
        (value, problem) -> writer.execute(() -> send(caller, value, problem, reply)));
  }

  /** Where an answer of so many items is written. */
  static Executor writer(int items, Executor aside) {
    return items < ITEMS_ASIDE ? Runnable::run : aside;
  }

  private static <T, M> void send(
      StreamObserver<M> caller, T value, @Nullable Throwable problem, Function<T, M> reply) {
    if (problem != null) {
      caller.onError(GrpcErrors.of(problem));
      return;
    }
    send(caller, () -> reply.apply(value));
  }

  /**
   * Answers with what {@code reply} gives, or with why it gave nothing or memory has no room for
   * it.
   */
  static <M> void send(StreamObserver<M> caller, Supplier<M> reply) {
    M message;
    try {
      message = reply.get();
    } catch (RuntimeException e) {
      caller.onError(GrpcErrors.of(e));
      return;
    }
    try {
      caller.onNext(message);
    } catch (Refusal noRoom) {
      caller.onError(GrpcErrors.of(noRoom));
      return;
    }
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
