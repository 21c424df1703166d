package dev.kagzi.sdk.internal.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.protocol.v1.AttachResponse;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.sdk.fake.FakeServer;
import dev.kagzi.sdk.internal.wire.Channels;
import dev.kagzi.sdk.internal.wire.Connection;
import dev.kagzi.sdk.internal.wire.Credentials;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A stream or poll that is cancelled after it was created and before it has started. */
class CancelledStartTest {
  private final FakeServer server = new FakeServer();
  private final ManagedChannel channel =
      Channels.open(List.of(server.address()), Credentials.NONE, UnaryOperator.identity());
  private final Gate gate = new Gate();
  private final Connection connection =
      new Connection(
          channel,
          ClientInterceptors.intercept(channel, gate),
          server.address(),
          "default",
          Duration.ofSeconds(10));

  @AfterEach
  void close() {
    connection.close();
    server.close();
  }

  @Test
  void a_stream_that_is_cancelled_while_it_starts_is_cancelled_after_its_start() {
    AtomicInteger registrations = new AtomicInteger();
    WorkerSession session =
        new WorkerSession(
            connection,
            RegisterRequest.getDefaultInstance(),
            new WorkerSession.Owner() {
              @Override
              public void onRegistered(String workerId, int heartbeatSeconds) {
                registrations.incrementAndGet();
              }

              @Override
              public void onEvent(AttachResponse event) {}

              @Override
              public void onRejected() {}
            });
    gate.beforeStart("Attach", session::close);

    session.start();

    await().until(() -> registrations.get() == 1);
    assertThat(gate.events).containsExactly("started", "cancelled");
  }

  @Test
  void a_poll_that_is_cancelled_while_it_starts_is_cancelled_after_its_start() {
    AtomicInteger polls = new AtomicInteger();
    Poller poller = poller(polls);
    gate.beforeStart("PollTasks", poller::cancel);

    poller.poll();

    assertThat(gate.events).containsExactly("started", "cancelled");
    await().until(() -> !poller.isPolling());
  }

  @Test
  void a_poll_that_is_cancelled_before_its_start_is_never_started() {
    Recorded call = new Recorded();

    call.cancel();

    assertThat(call.start()).isFalse();
    assertThat(call.calls).isZero();
  }

  private Poller poller(AtomicInteger polls) {
    return new Poller(
        connection,
        "default",
        false,
        new Poller.Owner() {
          @Override
          public @Nullable String workerIdToPoll() {
            return polls.getAndIncrement() == 0 ? "worker" : null;
          }

          @Override
          public WorkerSlots.Free free() {
            return new WorkerSlots.Free(1, List.of(TypeVersion.getDefaultInstance()));
          }

          @Override
          public void onTasks(List<Task> tasks) {}

          @Override
          public void onRejected() {}
        });
  }

  private static final class Recorded extends CancellableCall<String, String> {
    int calls;

    @Override
    void call() {
      calls++;
    }

    @Override
    public void onNext(String answer) {}

    @Override
    public void onError(Throwable error) {}

    @Override
    public void onCompleted() {}
  }

  /** Runs an action between the creation and the start of calls of one method. */
  private static final class Gate implements ClientInterceptor {
    final List<String> events = new CopyOnWriteArrayList<>();
    private volatile String gated = "";
    private volatile Runnable action = () -> {};

    void beforeStart(String method, Runnable action) {
      this.action = action;
      this.gated = method;
    }

    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(
        MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
      ClientCall<Q, A> call = next.newCall(method, options);
      if (!gated.equals(method.getBareMethodName())) {
        return call;
      }
      return new SimpleForwardingClientCall<>(call) {
        @Override
        public void start(Listener<A> listener, Metadata headers) {
          action.run();
          super.start(listener, headers);
          events.add("started");
        }

        @Override
        public void cancel(@Nullable String message, @Nullable Throwable cause) {
          events.add("cancelled");
          super.cancel(message, cause);
        }
      };
    }
  }
}
