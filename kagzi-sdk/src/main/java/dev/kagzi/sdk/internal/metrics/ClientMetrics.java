package dev.kagzi.sdk.internal.metrics;

import io.grpc.ClientInterceptor;
import io.grpc.Status;
import java.util.List;
import java.util.function.IntSupplier;

/** What a client and its workers measure. Thread-safe. */
public interface ClientMetrics {
  /** Measures nothing. */
  ClientMetrics NONE =
      new ClientMetrics() {
        @Override
        public List<ClientInterceptor> interceptors() {
          return List.of();
        }

        @Override
        public void callEnded(String method, Status.Code status, long nanos) {}

        @Override
        public void runEnded(String queue, String type, String outcome) {}

        @Override
        public void stepEnded(String type, boolean completed, long nanos) {}

        @Override
        public Runnable workerStarted(String queue, WorkerNumbers numbers) {
          return () -> {};
        }
      };

  /** The numbers of a worker of one queue. */
  record WorkerNumbers(int slots, IntSupplier used, IntSupplier stuck) {}

  /** Returns the interceptors that measure calls. */
  default List<ClientInterceptor> interceptors() {
    return List.of(new CallTimer(this));
  }

  /** A call to the server ended. */
  void callEnded(String method, Status.Code status, long nanos);

  /**
   * An execution of a run ended.
   *
   * @param outcome one of a fixed set of words
   */
  void runEnded(String queue, String type, String outcome);

  /** An attempt of a step ended. */
  void stepEnded(String type, boolean completed, long nanos);

  /** Shows the numbers of a worker until the returned action is run. */
  Runnable workerStarted(String queue, WorkerNumbers numbers);
}
