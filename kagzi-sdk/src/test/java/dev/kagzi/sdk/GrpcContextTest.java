package dev.kagzi.sdk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which calls end with the gRPC context of the thread that makes them. */
class GrpcContextTest extends FakeServerTest {
  private static final Context.Key<Boolean> IN_CALLER = Context.key("in-caller");

  private final ScheduledExecutorService timers = Executors.newScheduledThreadPool(1);
  private final Context.CancellableContext caller =
      Context.ROOT.withValue(IN_CALLER, true).withCancellation();

  @AfterEach
  void close() {
    caller.cancel(null);
    timers.shutdownNow();
  }

  @Test
  void only_calls_that_block_their_caller_are_made_in_its_context() throws Exception {
    Contexts contexts = new Contexts();
    try (Kagzi client =
        Kagzi.builder().address(server.address()).grpcInterceptor(contexts).connect()) {
      caller.run(
          () -> {
            Worker worker =
                client
                    .worker()
                    .workflow(
                        GREET,
                        (ctx, name) -> {
                          ctx.step("one", () -> {});
                          return name;
                        })
                    .start();
            RunHandle<String> run = client.workflow(GREET).start("Ada");
            assertThat(run.result(SOON)).isEqualTo("Ada");
            assertThat(run.status()).isEqualTo(RunStatus.COMPLETED);
            await().until(() -> contexts.inCaller.containsKey("Heartbeat"));
            worker.close();
          });
    }

    assertThat(contexts.inCaller.keySet())
        .contains("StartWorkflows", "WatchWorkflows", "Register", "Attach", "PollTasks")
        .contains("Heartbeat", "Report", "Deregister", "GetWorkflow");
    assertThat(contexts.inCaller).containsEntry("GetWorkflow", Set.of(true));
    contexts.inCaller.remove("GetWorkflow");
    assertThat(contexts.inCaller.values()).containsOnly(Set.of(false));
  }

  @Test
  void the_deadline_of_the_callers_context_limits_a_blocking_call() {
    RunHandle<String> run = start();
    server.stop();
    Context limited = caller.withDeadline(Deadline.after(200, TimeUnit.MILLISECONDS), timers);
    long begunNanos = System.nanoTime();

    assertThatThrownBy(() -> limited.call(run::status))
        .isInstanceOf(ServerUnavailableException.class);

    assertThat(System.nanoTime() - begunNanos).isLessThan(TimeUnit.SECONDS.toNanos(5));
  }

  @Test
  void the_end_of_the_callers_context_ends_its_wait_for_a_start_or_a_result() throws Exception {
    RunHandle<String> run = start();
    CountDownLatch starts = server.hold("StartWorkflows");
    timers.schedule(() -> caller.cancel(null), 200, TimeUnit.MILLISECONDS);

    assertThatThrownBy(() -> caller.call(run::result)).isInstanceOf(WaitInterruptedException.class);
    assertThatThrownBy(() -> caller.call(this::start)).isInstanceOf(WaitInterruptedException.class);

    starts.countDown();
    await().until(() -> server.state.all().size() == 2);
  }

  /** Records, by method, whether calls were created or started in the caller's context. */
  private static final class Contexts implements ClientInterceptor {
    final Map<String, Set<Boolean>> inCaller = new ConcurrentHashMap<>();

    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(
        MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
      record(method);
      return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<A> listener, Metadata headers) {
          record(method);
          super.start(listener, headers);
        }
      };
    }

    private void record(MethodDescriptor<?, ?> method) {
      inCaller
          .computeIfAbsent(
              String.valueOf(method.getBareMethodName()), unused -> ConcurrentHashMap.newKeySet())
          .add(IN_CALLER.get() != null);
    }
  }
}
