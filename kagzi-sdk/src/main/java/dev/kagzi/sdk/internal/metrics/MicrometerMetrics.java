package dev.kagzi.sdk.internal.metrics;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/** Metrics in the application's registry. Only this class uses Micrometer. Thread-safe. */
public final class MicrometerMetrics implements ClientMetrics {
  private final MeterRegistry registry;
  private final Tags namespace;
  private final Map<String, Map<Status.Code, Timer>> calls = new ConcurrentHashMap<>();
  private final Map<String, Map<Boolean, Timer>> steps = new ConcurrentHashMap<>();

  public MicrometerMetrics(MeterRegistry registry, String namespace) {
    this.registry = registry;
    this.namespace = Tags.of("namespace", namespace);
  }

  @Override
  public List<ClientInterceptor> interceptors() {
    return List.of(new CallTimer());
  }

  private final class CallTimer implements ClientInterceptor {
    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(
        MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
      return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<A> listener, Metadata headers) {
          long beganNanos = System.nanoTime();
          super.start(
              new SimpleForwardingClientCallListener<>(listener) {
                @Override
                public void onClose(Status status, Metadata trailers) {
                  timer(method.getFullMethodName(), status.getCode())
                      .record(System.nanoTime() - beganNanos, TimeUnit.NANOSECONDS);
                  super.onClose(status, trailers);
                }
              },
              headers);
        }
      };
    }
  }

  private Timer timer(String method, Status.Code code) {
    return calls
        .computeIfAbsent(method, name -> new ConcurrentHashMap<>())
        .computeIfAbsent(
            code,
            status ->
                Timer.builder("kagzi.client.calls")
                    .description("Calls to the server, by method and status")
                    .tags(namespace)
                    .tag("method", method.substring(method.lastIndexOf('.') + 1))
                    .tag("status", status.name())
                    .register(registry));
  }

  @Override
  public void runEnded(String queue, String type, String outcome) {
    Counter.builder("kagzi.worker.runs")
        .description("Executions of runs, by outcome")
        .tags(namespace)
        .tags("queue", queue, "type", type, "outcome", outcome)
        .register(registry)
        .increment();
  }

  @Override
  public void stepEnded(String type, boolean completed, long nanos) {
    steps
        .computeIfAbsent(type, name -> new ConcurrentHashMap<>())
        .computeIfAbsent(
            completed,
            result ->
                Timer.builder("kagzi.worker.steps")
                    .description("Attempts of steps, by outcome")
                    .tags(namespace)
                    .tags("type", type, "outcome", result ? "completed" : "failed")
                    .register(registry))
        .record(nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public Runnable workerStarted(String queue, WorkerNumbers numbers) {
    Tags tags = namespace.and("queue", queue);
    List<Meter> gauges =
        List.of(
            slots(tags.and("state", "used"), numbers.used()),
            slots(
                tags.and("state", "free"),
                () -> Math.max(0, numbers.slots() - numbers.used().getAsInt())),
            Gauge.builder("kagzi.worker.stuck", () -> numbers.stuck().getAsInt())
                .description("Runs whose code ignores its interrupt")
                .tags(tags)
                .register(registry));
    return () -> gauges.forEach(registry::remove);
  }

  private Gauge slots(Tags tags, IntSupplier number) {
    return Gauge.builder("kagzi.worker.slots", number::getAsInt)
        .description("Slots of a worker, by state")
        .tags(tags)
        .register(registry);
  }
}
