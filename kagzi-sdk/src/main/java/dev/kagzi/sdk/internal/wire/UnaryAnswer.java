package dev.kagzi.sdk.internal.wire;

import io.grpc.stub.StreamObserver;
import java.util.function.Consumer;

/** Receives the answer to a unary call, or its error, on a thread of the channel. */
public record UnaryAnswer<A>(Consumer<A> onAnswer, Consumer<Throwable> onFailure)
    implements StreamObserver<A> {
  @Override
  public void onNext(A answer) {
    onAnswer.accept(answer);
  }

  @Override
  public void onError(Throwable error) {
    onFailure.accept(error);
  }

  @Override
  public void onCompleted() {}
}
