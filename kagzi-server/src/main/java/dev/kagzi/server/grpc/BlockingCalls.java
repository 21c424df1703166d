package dev.kagzi.server.grpc;

import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.Refusal;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;

/** Runs calls that wait for the database on virtual threads, up to a maximum. Thread-safe. */
final class BlockingCalls {
  private final Semaphore places;
  private final int placesMax;
  private final EssentialThreads threads;

  BlockingCalls(int placesMax, EssentialThreads threads) {
    this.places = new Semaphore(placesMax);
    this.placesMax = placesMax;
    this.threads = threads;
  }

  <T, M> void answer(StreamObserver<M> caller, Supplier<T> call, Function<T, M> reply) {
    UnaryResponses.ignoreCancel(caller);
    try {
      run("call", () -> UnaryResponses.send(caller, () -> reply.apply(call.get())));
    } catch (Refusal full) {
      caller.onError(GrpcErrors.of(full));
    }
  }

  <T> CompletableFuture<T> call(Supplier<T> call) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    run(
        "call",
        () -> {
          try {
            answer.complete(call.get());
          } catch (RuntimeException e) {
            answer.completeExceptionally(e);
          }
        });
    return answer;
  }

  /** Runs the task, or refuses it at once if too many are running. */
  void run(String name, Runnable task) {
    if (!places.tryAcquire()) {
      throw Refusal.of(
          Refusal.Reason.RESOURCE_EXHAUSTED,
          "calls",
          "",
          "calls that wait for the database: " + placesMax + " (expected: fewer; try again later)");
    }
    Thread.ofVirtual()
        .name("kagzi-" + name)
        .start(
            () -> {
              try {
                task.run();
              } catch (OutOfMemoryError fatal) {
                // The call gets no response, and other threads may be damaged too: the server has
                // failed.
                threads.failed("kagzi-" + name, fatal);
              } finally {
                places.release();
              }
            });
  }
}
