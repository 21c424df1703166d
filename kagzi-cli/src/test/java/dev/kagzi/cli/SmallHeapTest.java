package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.GetWorkflowResponse;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.WorkflowType;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server with a heap of 256 MiB and payloads of 1 MiB: calls are refused, nothing dies. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SmallHeapTest {
  private static final int RUNS = 100;
  private static final int CALLERS = 200;
  private static final int READERS = 200;
  private static final int CHILDREN = 300;

  /** Compresses well, so that the disk does not matter; in memory it has its full size. */
  private static final String LARGE = "x".repeat(1 << 20);

  private static final WorkflowType<String, String> HEAVY =
      WorkflowType.of("heavy", String.class, String.class).queue("heavy");

  @TempDir Path folder;
  private EmbeddedPostgres postgres;
  private KagziProcess server;

  @BeforeEach
  void start() throws Exception {
    postgres = EmbeddedPostgres.builder().dataDir(folder.resolve("data")).start();
    postgres.createDatabase("small");
    server =
        KagziProcess.start(
                folder,
                Map.of(
                    "KAGZI_DB_URL", postgres.jdbcUrl("small"),
                    "KAGZI_DB_USER", postgres.user(),
                    "KAGZI_DB_PASSWORD", postgres.password(),
                    "JAVA_TOOL_OPTIONS", "-Xmx256m"),
                "server",
                "--port",
                "0",
                "--http-port",
                "0")
            .awaitReady();
  }

  @AfterEach
  void stop() throws Exception {
    server.close();
    postgres.close();
  }

  private String address() {
    return "127.0.0.1:" + server.grpcPort();
  }

  private ManagedChannel channel() {
    return NettyChannelBuilder.forTarget(address()).usePlaintext().build();
  }

  @Test
  void large_runs_complete_while_hundreds_of_callers_send_large_starts() throws Exception {
    AtomicInteger refused = new AtomicInteger();
    ManagedChannel channel = channel();
    try (Kagzi kagzi =
            Kagzi.builder().address(address()).callTimeout(Duration.ofMinutes(5)).connect();
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      kagzi
          .worker()
          .workflow(
              HEAVY,
              (context, input) -> {
                String first = context.step("first", String.class, () -> input);
                // The next claim reads the recorded steps.
                context.sleep("pause", "1500ms");
                return context.step("second", String.class, () -> first);
              })
          .maxConcurrent(64)
          .start();
      List<Future<RunHandle<String>>> started = new ArrayList<>();
      for (int i = 0; i < RUNS; i++) {
        started.add(callers.submit(() -> kagzi.workflow(HEAVY).start(LARGE)));
      }
      CountDownLatch all = new CountDownLatch(CALLERS);
      Semaphore accepted = new Semaphore(0);
      List<Future<?>> others = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        others.add(callers.submit(() -> startUntilAccepted(channel, all, accepted, refused)));
      }

      for (Future<?> other : others) {
        other.get();
      }
      for (Future<RunHandle<String>> run : started) {
        assertThat(run.get().result(Duration.ofMinutes(5))).hasSameSizeAs(LARGE);
      }
    } finally {
      channel.shutdownNow();
    }
    assertThat(refused).hasPositiveValue();
    assertThatNothingDied();
  }

  /** Releases all callers at once. */
  private static void startUntilAccepted(
      ManagedChannel channel, CountDownLatch all, Semaphore accepted, AtomicInteger refused) {
    StartWorkflowRequest request =
        StartWorkflowRequest.newBuilder()
            .setTaskQueue("nobody")
            .setWorkflowType("nothing")
            .setInput(Payload.newBuilder().setData(ByteString.copyFromUtf8(LARGE)))
            .build();
    all.countDown();
    try {
      all.await();
      while (true) {
        try {
          WorkflowServiceGrpc.newBlockingStub(channel)
              .withDeadlineAfter(60, TimeUnit.SECONDS)
              .startWorkflow(request);
          accepted.release(2);
          return;
        } catch (StatusRuntimeException e) {
          assertThat(e.getStatus().getCode()).as("%s", e).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
          refused.incrementAndGet();
          // Backs off like a client: tries again when another call was accepted.
          boolean unused = accepted.tryAcquire(1, TimeUnit.SECONDS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void readers_that_do_not_read_are_refused_and_others_are_served() throws Exception {
    List<ClientCall<GetWorkflowRequest, GetWorkflowResponse>> calls = new ArrayList<>();
    CountDownLatch some = new CountDownLatch(1);
    ManagedChannel slow = channel();
    ManagedChannel other = channel();
    try {
      String run =
          WorkflowServiceGrpc.newBlockingStub(other)
              .startWorkflow(
                  StartWorkflowRequest.newBuilder()
                      .setTaskQueue("nobody")
                      .setWorkflowType("nothing")
                      .setInput(Payload.newBuilder().setData(ByteString.copyFromUtf8(LARGE)))
                      .build())
              .getRunId();
      GetWorkflowRequest request = GetWorkflowRequest.newBuilder().setRunId(run).build();

      for (int i = 0; i < READERS; i++) {
        ClientCall<GetWorkflowRequest, GetWorkflowResponse> call =
            slow.newCall(WorkflowServiceGrpc.getGetWorkflowMethod(), CallOptions.DEFAULT);
        // The client never requests the message, so the response stays in the server.
        call.start(
            new ClientCall.Listener<>() {
              @Override
              public void onClose(Status status, Metadata trailers) {
                // Other calls are refused because no database connection is free.
                if (String.valueOf(status.getDescription())
                    .startsWith("answers that are not read yet")) {
                  some.countDown();
                }
              }
            },
            new Metadata());
        call.sendMessage(request);
        call.halfClose();
        calls.add(call);
      }

      assertThat(some.await(120, TimeUnit.SECONDS)).isTrue();
      calls.forEach(call -> call.cancel("done", null));
      assertThat(getUntilAnswered(other, request).getInput().getData().size())
          .isEqualTo(LARGE.length());
    } finally {
      slow.shutdownNow();
      other.shutdownNow();
    }
    assertThatNothingDied();
  }

  private static dev.kagzi.protocol.v1.Workflow getUntilAnswered(
      ManagedChannel channel, GetWorkflowRequest request) {
    long giveUp = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
    while (true) {
      try {
        return WorkflowServiceGrpc.newBlockingStub(channel)
            .withDeadlineAfter(60, TimeUnit.SECONDS)
            .getWorkflow(request)
            .getWorkflow();
      } catch (StatusRuntimeException e) {
        assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(System.nanoTime()).as("memory is free again").isLessThan(giveUp);
      }
    }
  }

  /** As after a crash of the server: the results were posted, and their delivery was lost. */
  @Test
  void a_parent_gets_hundreds_of_large_results_of_its_children() throws Exception {
    ManagedChannel channel = channel();
    try (Connection database =
        DriverManager.getConnection(
            postgres.jdbcUrl("small"), postgres.user(), postgres.password())) {
      String parent =
          WorkflowServiceGrpc.newBlockingStub(channel)
              .startWorkflow(
                  StartWorkflowRequest.newBuilder()
                      .setTaskQueue("nobody")
                      .setWorkflowType("nothing")
                      .build())
              .getRunId();

      postResults(database, parent);

      Awaitility.await()
          .atMost(Duration.ofMinutes(5))
          .pollInterval(Duration.ofMillis(500))
          .untilAsserted(() -> assertThat(recordedResults(database, parent)).isEqualTo(CHILDREN));
    } finally {
      channel.shutdownNow();
    }
    assertThatNothingDied();
  }

  private static void postResults(Connection database, String parent) throws SQLException {
    try (PreparedStatement insert =
        database.prepareStatement(
            "INSERT INTO kagzi.run_messages (to_run, step_id, what, data, metadata, created_at)"
                + " SELECT ?::uuid, 'child-' || i, 'COMPLETED ' || gen_random_uuid(),"
                + " convert_to(repeat('x', 1 << 20), 'UTF8'), '{}',"
                + " now() - interval '1 minute' FROM generate_series(1, ?) i")) {
      insert.setString(1, parent);
      insert.setInt(2, CHILDREN);
      insert.executeUpdate();
    }
  }

  private static int recordedResults(Connection database, String parent) throws SQLException {
    try (PreparedStatement count =
        database.prepareStatement(
            "SELECT count(*) FROM kagzi.step_runs"
                + " WHERE run_id = ?::uuid AND octet_length(output) = 1 << 20")) {
      count.setString(1, parent);
      try (ResultSet rows = count.executeQuery()) {
        rows.next();
        return rows.getInt(1);
      }
    }
  }

  private void assertThatNothingDied() throws Exception {
    assertThat(server.errors())
        .doesNotContain("OutOfMemory")
        .doesNotContain("OutOfDirectMemory")
        .doesNotContain("essential thread");
    server.terminate();
    assertThat(server.awaitExit()).isZero();
  }
}
