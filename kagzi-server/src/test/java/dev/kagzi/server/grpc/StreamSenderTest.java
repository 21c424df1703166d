package dev.kagzi.server.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.protocol.v1.AttachRequest;
import dev.kagzi.protocol.v1.AttachResponse;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import io.grpc.BindableService;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class StreamSenderTest {
  private final FakeStream<String> stream = new FakeStream<>();
  private final Deque<String> source = new ArrayDeque<>();
  private final Deque<Runnable> tasks = new ArrayDeque<>();
  private int polls;
  private final StreamSender<String> pump =
      new StreamSender<>(stream, tasks::add, this::poll, source::isEmpty);

  private @Nullable String poll() {
    polls++;
    return source.poll();
  }

  @Test
  void messages_stay_in_the_source_until_the_stream_is_ready() {
    source.add("a");
    source.add("b");
    source.add("c");
    stream.room = 2;
    wake();

    assertThat(stream.messages).containsExactly("a", "b");
    assertThat(source).containsExactly("c");

    stream.room = 3;
    wake();
    assertThat(stream.messages).containsExactly("a", "b", "c");
  }

  @Test
  void wakes_before_the_sender_has_run_are_one_task() {
    pump.wake();
    pump.wake();
    pump.wake();

    assertThat(tasks).hasSize(1);
  }

  @Test
  void a_stream_that_is_ready_again_gets_the_messages_that_were_left() {
    pump.start(() -> {});
    source.add("a");
    source.add("b");
    stream.room = 1;
    wake();

    stream.becomeReady(2);
    runTasks();

    assertThat(stream.messages).containsExactly("a", "b");
  }

  @Test
  void a_stream_that_is_ready_again_wakes_no_thread_if_no_message_is_left() {
    pump.start(() -> {});
    source.add("a");
    stream.room = 1;
    wake();
    int before = polls;

    stream.becomeReady(2);

    assertThat(tasks).isEmpty();
    assertThat(polls).isEqualTo(before);
  }

  @Test
  void a_stream_that_is_ready_again_is_completed() {
    pump.start(() -> {});
    source.add("a");
    stream.room = 1;
    pump.complete();
    runTasks();
    assertThat(stream.completed).isFalse();

    stream.becomeReady(2);
    runTasks();

    assertThat(stream.messages).containsExactly("a");
    assertThat(stream.completed).isTrue();
  }

  @Test
  void completion_follows_all_remaining_messages() {
    source.add("a");
    source.add("b");
    stream.room = 1;
    pump.complete();
    runTasks();
    assertThat(stream.completed).isFalse();

    stream.room = 10;
    wake();

    assertThat(stream.messages).containsExactly("a", "b");
    assertThat(stream.completed).isTrue();
  }

  @Test
  void a_failure_discards_the_remaining_messages() {
    source.add("a");
    stream.room = 10;

    pump.fail(GrpcErrors.of(GrpcErrors.stopping()));
    runTasks();

    assertThat(stream.messages).isEmpty();
    assertThat(stream.problem).isNotNull();
  }

  /** Over real gRPC, since the test is about its cancel and close handlers. */
  @Test
  @Timeout(60)
  void a_stream_that_the_server_refuses_releases_its_resources() throws Exception {
    CountDownLatch released = new CountDownLatch(1);
    BindableService service =
        new WorkerServiceGrpc.WorkerServiceImplBase() {
          @Override
          public void attach(AttachRequest request, StreamObserver<AttachResponse> caller) {
            StreamSender<AttachResponse> refused =
                new StreamSender<>(
                    UnaryResponses.stream(caller),
                    Runnable::run,
                    () -> {
                      throw GrpcErrors.stopping();
                    },
                    () -> false);
            refused.start(released::countDown);
          }
        };
    Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(service)
            .build()
            .start();
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", server.getPort()).usePlaintext().build();
    try {
      Iterator<AttachResponse> events =
          WorkerServiceGrpc.newBlockingStub(channel).attach(AttachRequest.getDefaultInstance());

      assertThatThrownBy(events::hasNext).isInstanceOf(StatusRuntimeException.class);
      assertThat(released.await(30, TimeUnit.SECONDS)).isTrue();
    } finally {
      channel.shutdownNow();
      server.shutdownNow();
    }
  }

  @Test
  void a_stream_ends_once() {
    pump.fail(GrpcErrors.of(GrpcErrors.stopping()));
    runTasks();
    stream.problem = null;

    pump.complete();
    runTasks();

    assertThat(stream.completed).isFalse();
    assertThat(stream.problem).isNull();
  }

  @Test
  void nothing_is_sent_to_a_caller_that_has_gone() {
    stream.cancelled = true;
    stream.room = 10;
    source.add("a");

    wake();

    assertThat(stream.messages).isEmpty();
  }

  private void wake() {
    pump.wake();
    runTasks();
  }

  private void runTasks() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }
}
