package dev.kagzi.server.grpc;

import dev.kagzi.engine.value.Refusal;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

final class UnaryResponses {
  private UnaryResponses() {}

  /**
   * Responses with this many items or more are built on a sender thread, because the engine's
   * thread has the next commit to run. For fewer items the thread switch would cost more.
   */
  private static final int OFFLOAD_ITEMS_MIN = 8;

  /** Starts {@code call}; the thread that completes its future responds. */
  static <T, M> void answer(
      StreamObserver<M> caller, Supplier<CompletableFuture<T>> call, Function<T, M> reply) {
    answer(caller, Runnable::run, call, reply);
  }

  /** Like the other overload, but {@code writer} sends the response. */
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

  static Executor writer(int items, Executor senders) {
    return items < OFFLOAD_ITEMS_MIN ? Runnable::run : senders;
  }

  private static <T, M> void send(
      StreamObserver<M> caller, T value, @Nullable Throwable problem, Function<T, M> reply) {
    if (problem != null) {
      caller.onError(GrpcErrors.of(problem));
      return;
    }
    send(caller, () -> reply.apply(value));
  }

  /** Responds with {@code reply}, or with an error if it throws or memory is full. */
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
   * Sets an empty cancel handler. Without one, a response to a cancelled call throws. Call before
   * the handler returns.
   */
  static <M> void ignoreCancel(StreamObserver<M> caller) {
    stream(caller).setOnCancelHandler(() -> {});
  }

  /** Returns the observer's full interface; the generated stubs always pass this type. */
  static <M> ServerCallStreamObserver<M> stream(StreamObserver<M> caller) {
    return (ServerCallStreamObserver<M>) caller;
  }
}
