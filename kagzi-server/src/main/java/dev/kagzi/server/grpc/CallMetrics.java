package dev.kagzi.server.grpc;

import dev.kagzi.engine.metrics.Buckets;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Measures calls by method and status, from their headers to their end. gRPC calls interceptors
 * only for methods that exist, so callers cannot create meters for other names. Thread-safe.
 */
final class CallMetrics implements ServerInterceptor {
  private final MeterRegistry registry;
  private final Map<String, MethodTimers> methods = new ConcurrentHashMap<>();

  CallMetrics(MeterRegistry registry) {
    this.registry = registry;
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    Measurement measurement =
        new Measurement(timers(call.getMethodDescriptor().getFullMethodName()));
    ServerCall.Listener<Q> listener =
        next.startCall(
            new SimpleForwardingServerCall<>(call) {
              @Override
              public void close(Status status, Metadata trailers) {
                measurement.end(status.getCode());
                super.close(status, trailers);
              }
            },
            headers);
    return new SimpleForwardingServerCallListener<>(listener) {
      @Override
      public void onCancel() {
        measurement.end(Status.Code.CANCELLED);
        super.onCancel();
      }
    };
  }

  private static final class Measurement {
    private final MethodTimers timers;
    private final long beganNanos = System.nanoTime();
    private final AtomicBoolean ended = new AtomicBoolean();

    Measurement(MethodTimers timers) {
      this.timers = timers;
    }

    void end(Status.Code code) {
      if (ended.compareAndSet(false, true)) {
        timers.of(code).record(System.nanoTime() - beganNanos, TimeUnit.NANOSECONDS);
      }
    }
  }

  /**
   * Calls {@code get} first, because {@code computeIfAbsent} may lock even if the key is present.
   */
  private MethodTimers timers(String method) {
    MethodTimers known = methods.get(method);
    return known != null ? known : methods.computeIfAbsent(method, name -> new MethodTimers(name));
  }

  /** The timers of a method. One is created when a call first ends with its status. */
  private final class MethodTimers {
    private final String method;
    private final Map<Status.Code, Timer> byCode = new ConcurrentHashMap<>();

    MethodTimers(String method) {
      this.method = method;
    }

    Timer of(Status.Code code) {
      Timer known = byCode.get(code);
      return known != null ? known : byCode.computeIfAbsent(code, status -> create(method, status));
    }
  }

  private Timer create(String method, Status.Code status) {
    return Buckets.of(Timer.builder("kagzi.grpc.calls"))
        .description("gRPC calls, by method and status; a stream counts when it ends")
        .tag("method", method.substring(method.lastIndexOf('.') + 1))
        .tag("status", status.name())
        .register(registry);
  }
}
