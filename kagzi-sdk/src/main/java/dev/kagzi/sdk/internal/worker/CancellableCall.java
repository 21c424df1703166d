package dev.kagzi.sdk.internal.worker;

import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import org.jspecify.annotations.Nullable;

/**
 * A call that may be cancelled at any time. gRPC throws if a call is cancelled between its creation
 * and its start; this class then does not start the call, or cancels it right after its start.
 * Thread-safe.
 */
abstract class CancellableCall<Q, A> implements ClientResponseObserver<Q, A> {
  private @Nullable ClientCallStreamObserver<Q> call;
  private boolean started;
  private boolean cancelled;

  abstract void call();

  /** Returns false if the call was already cancelled. */
  final boolean start() {
    synchronized (this) {
      if (cancelled) {
        return false;
      }
    }
    call();
    boolean cancelNow;
    synchronized (this) {
      started = true;
      cancelNow = cancelled;
    }
    if (cancelNow) {
      cancel();
    }
    return true;
  }

  final void cancel() {
    ClientCallStreamObserver<Q> open;
    synchronized (this) {
      cancelled = true;
      open = started ? call : null;
    }
    if (open != null) {
      open.cancel("the worker drains, is closed or registers again", null);
    }
  }

  @Override
  public final synchronized void beforeStart(ClientCallStreamObserver<Q> call) {
    this.call = call;
  }
}
