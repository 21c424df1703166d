package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** gRPC interceptors of the application that throw: the client and its workers go on. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BrokenInterceptorTest extends FakeServerTest {
  private static final Duration LATER = Duration.ofSeconds(30);

  /** Where an interceptor throws. */
  enum Place {
    CREATE,
    START,
    SEND,
    MESSAGE,
    CLOSE
  }

  @ParameterizedTest
  @EnumSource
  void a_worker_registers_polls_reports_and_sends_heartbeats_afterwards(Place place)
      throws InterruptedException {
    Set<String> methods =
        place == Place.MESSAGE
            // The fake server does not release the tasks of a poll whose answer is lost.
            ? Set.of("Register", "Attach", "Heartbeat", "Report", "Deregister")
            : Set.of("Register", "Attach", "Heartbeat", "Report", "Deregister", "PollTasks");
    try (Kagzi broken = connect(new Broken(place, methods, 2))) {
      Worker worker = broken.worker().workflow(GREET, (ctx, name) -> name).start();
      await().atMost(LATER).until(worker::isConnected);
      // All calls end, those that wait for something too.
      server.stop();
      server.start();
      int heartbeats = server.calls("Heartbeat");

      await().atMost(LATER).until(() -> server.calls("Heartbeat") >= heartbeats + 3);
      await().atMost(LATER).until(worker::isConnected);
      assertThat(start().result(LATER)).isEqualTo("Ada");
      await().atMost(LATER).until(() -> worker.activeCount() == 0);
      assertThat(start().result(LATER)).isEqualTo("Ada");
      worker.shutdown();
      assertThat(worker.awaitTermination(LATER)).isTrue();
    }
  }

  @Test
  void a_worker_keeps_its_claim_however_often_a_report_cannot_be_sent() {
    AtomicInteger executions = new AtomicInteger();
    try (Kagzi broken = connect(new Broken(Place.CREATE, Set.of("Report"), 8))) {
      broken
          .worker()
          .workflow(
              GREET,
              (ctx, name) -> {
                executions.incrementAndGet();
                return name;
              })
          .start();

      assertThat(start().result(LATER)).isEqualTo("Ada");
    }
    assertThat(executions).hasValue(1);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CLOSE")
  void a_wait_fails_with_the_exception_and_the_next_one_succeeds(Place place) {
    worker((ctx, name) -> name).start();
    String runId = start().runId();
    try (Kagzi broken = connect(new Broken(place, Set.of("WatchWorkflows"), 1))) {
      RunHandle<String> run = broken.run(runId, GREET);

      assertThatThrownBy(() -> run.result(LATER))
          .isInstanceOf(RequestRefusedException.class)
          .hasMessageContaining("a gRPC interceptor threw")
          .hasRootCauseMessage("broken interceptor");
      assertThat(run.result(LATER)).isEqualTo("Ada");
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_call_fails_with_the_exception_and_the_next_one_succeeds(Place place) {
    String runId = start().runId();
    try (Kagzi broken = connect(new Broken(place, Set.of("GetWorkflow"), 1))) {
      RunHandle<String> run = broken.run(runId, GREET);

      assertThatThrownBy(run::status)
          .isInstanceOf(RequestRefusedException.class)
          .hasRootCauseMessage("broken interceptor");
      assertThat(run.status()).isEqualTo(RunStatus.PENDING);
    }
  }

  @Test
  void interceptors_of_the_channel_are_guarded_too() {
    Broken interceptor = new Broken(Place.CLOSE, Set.of("GetWorkflow"), 1);
    String runId = start().runId();
    try (Kagzi broken =
        Kagzi.builder()
            .address(server.address())
            .channel(channel -> channel.intercept(interceptor))
            .connect()) {
      assertThatThrownBy(() -> broken.run(runId, GREET).status())
          .hasRootCauseMessage("broken interceptor");
    }
  }

  private Kagzi connect(Broken interceptor) {
    return Kagzi.builder().address(server.address()).grpcInterceptor(interceptor).connect();
  }

  /** Throws in the first calls of each of these methods. */
  private static final class Broken implements ClientInterceptor {
    private final Place place;
    private final Set<String> methods;
    private final int times;
    private final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();

    Broken(Place place, Set<String> methods, int times) {
      this.place = place;
      this.methods = methods;
      this.times = times;
    }

    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(
        MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
      String name = String.valueOf(method.getBareMethodName());
      boolean isBroken =
          methods.contains(name)
              && calls.computeIfAbsent(name, unused -> new AtomicInteger()).getAndIncrement()
                  < times;
      throwIf(isBroken, Place.CREATE);
      return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<A> listener, Metadata headers) {
          throwIf(isBroken, Place.START);
          super.start(
              new SimpleForwardingClientCallListener<>(listener) {
                @Override
                public void onMessage(A message) {
                  throwIf(isBroken, Place.MESSAGE);
                  super.onMessage(message);
                }

                @Override
                public void onClose(Status status, Metadata trailers) {
                  throwIf(isBroken, Place.CLOSE);
                  super.onClose(status, trailers);
                }
              },
              headers);
        }

        @Override
        public void sendMessage(Q message) {
          throwIf(isBroken, Place.SEND);
          super.sendMessage(message);
        }
      };
    }

    private void throwIf(boolean isBroken, Place here) {
      if (isBroken && place == here) {
        throw new AssertionError("broken interceptor");
      }
    }
  }
}
