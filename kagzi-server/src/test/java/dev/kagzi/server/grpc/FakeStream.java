package dev.kagzi.server.grpc;

import io.grpc.stub.ServerCallStreamObserver;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A client's side of a stream; takes messages while it is ready. */
final class FakeStream<M> extends ServerCallStreamObserver<M> {
  final List<M> messages = new ArrayList<>();
  int room;
  boolean cancelled;
  boolean completed;
  @Nullable Throwable problem;
  private Runnable onReady = () -> {};

  @Override
  public boolean isCancelled() {
    return cancelled;
  }

  @Override
  public boolean isReady() {
    return messages.size() < room;
  }

  @Override
  public void onNext(M message) {
    messages.add(message);
  }

  @Override
  public void onError(Throwable why) {
    problem = why;
  }

  @Override
  public void onCompleted() {
    completed = true;
  }

  @Override
  public void setOnCancelHandler(Runnable handler) {}

  @Override
  public void setOnCloseHandler(Runnable handler) {}

  @Override
  public void setOnReadyHandler(Runnable handler) {
    onReady = handler;
  }

  void becomeReady(int room) {
    this.room = room;
    onReady.run();
  }

  @Override
  public void setCompression(String compression) {}

  @Override
  public void request(int count) {}

  @Override
  public void setMessageCompression(boolean enable) {}

  @Override
  public void disableAutoInboundFlowControl() {}
}
