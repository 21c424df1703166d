package dev.kagzi.torture;

import dev.kagzi.protocol.v1.PollTasksResponse;
import dev.kagzi.protocol.v1.RecordedStep;
import dev.kagzi.protocol.v1.Task;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Observes which claims a worker receives, because the SDK does not expose epochs and attempts.
 * Thread-safe.
 */
final class ClaimObserver implements ClientInterceptor {
  /**
   * A claim as it was delivered.
   *
   * @param epoch 0 if it is unknown
   * @param nextAttempts the next attempt of each recorded step; 1 for all others
   */
  record Delivered(int epoch, Map<String, Integer> nextAttempts) {
    static final Delivered UNKNOWN = new Delivered(0, Map.of());

    Delivered {
      nextAttempts = Map.copyOf(nextAttempts);
    }

    /** The attempt with which an execution of this claim begins a step; 0 if it is unknown. */
    int firstAttempt(String step) {
      return epoch == 0 ? 0 : nextAttempts.getOrDefault(step, 1);
    }
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Deque<Delivered>> pendingClaims = new HashMap<>();

  /**
   * Returns the claim whose execution begins now. If two claims of the run were delivered
   * meanwhile, it is unknown which one begins.
   */
  Delivered takeBegun(String runId) {
    lock.lock();
    try {
      Deque<Delivered> claims = pendingClaims.get(runId);
      if (claims == null) {
        return Delivered.UNKNOWN;
      }
      if (claims.size() > 1) {
        int count = claims.size();
        claims.clear();
        for (int i = 0; i < count; i++) {
          claims.add(Delivered.UNKNOWN);
        }
      }
      Delivered begun = claims.removeFirst();
      if (claims.isEmpty()) {
        pendingClaims.remove(runId);
      }
      return begun;
    } finally {
      lock.unlock();
    }
  }

  private void delivered(Task task) {
    Map<String, Integer> nextAttempts = new HashMap<>();
    for (RecordedStep step : task.getStepsList()) {
      nextAttempts.put(step.getStepKey(), step.getAttempt() + (step.hasRetry() ? 1 : 0));
    }
    Delivered claim =
        task.getHistoryApart() ? Delivered.UNKNOWN : new Delivered(task.getEpoch(), nextAttempts);
    lock.lock();
    try {
      pendingClaims.computeIfAbsent(task.getRunId(), unused -> new ArrayDeque<>()).add(claim);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public <Q, A> ClientCall<Q, A> interceptCall(
      MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
    return new SimpleForwardingClientCall<Q, A>(next.newCall(method, options)) {
      @Override
      public void start(Listener<A> listener, Metadata headers) {
        super.start(new Reader<>(listener), headers);
      }
    };
  }

  private final class Reader<A> extends SimpleForwardingClientCallListener<A> {
    Reader(ClientCall.Listener<A> listener) {
      super(listener);
    }

    @Override
    public void onMessage(A message) {
      if (message instanceof PollTasksResponse polled) {
        polled.getTasksList().forEach(ClaimObserver.this::delivered);
      }
      super.onMessage(message);
    }
  }
}
