package dev.kagzi.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.ForceOfflineWorkerRequest;
import dev.kagzi.protocol.v1.ListStepsRequest;
import dev.kagzi.protocol.v1.ListWorkersRequest;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.protocol.v1.Worker;
import dev.kagzi.protocol.v1.WorkerStatus;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Runs the worker of docs/workers-in-other-languages.md on a real server, with kills and drains.
 */
@Timeout(value = 5 * 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NodeWorkerTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(90);

  /** The input of the worker's workflow. */
  record Order(String shop, String item, int coolOffSeconds) {}

  private static final WorkflowType<Order, String> ORDER =
      WorkflowType.of("order", Order.class, String.class).queue("shop");

  private static KagziServer server;
  private static Kagzi kagzi;
  private static ManagedChannel channel;

  @SuppressWarnings("NullAway.Init")
  private Shop shop;

  @BeforeAll
  static void open() throws Exception {
    NodeWorker.install();
    var postgres = SharedPostgres.server();
    server =
        KagziServer.start(
            ServerConfig.builder()
                .dbUrl(postgres.jdbcUrl(SharedPostgres.createDatabase()))
                .dbUser(postgres.user())
                .dbPassword(postgres.password())
                .unsafeDatabase()
                .grpcPort(0)
                .httpPort(0)
                .build());
    kagzi = Kagzi.connect(address());
    channel = NettyChannelBuilder.forAddress("127.0.0.1", server.grpcPort()).usePlaintext().build();
  }

  private static String address() {
    return "127.0.0.1:" + server.grpcPort();
  }

  @AfterAll
  static void close() {
    if (server != null) {
      channel.shutdownNow();
      kagzi.close();
      server.close();
    }
  }

  @BeforeEach
  void openShop() throws Exception {
    shop = new Shop();
  }

  @AfterEach
  void closeShop() {
    shop.close();
  }

  @Test
  void after_a_kill_within_a_step_another_worker_repeats_only_that_step() throws Exception {
    shop.holdShipping();
    RunHandle<String> run = start("lamp", 0);
    try (NodeWorker first = NodeWorker.start(address())) {
      assertThat(shop.nextCall()).isEqualTo("charge");
      assertThat(shop.nextCall()).isEqualTo("ship");

      first.kill();
    }
    shop.resumeShipping();

    try (NodeWorker second = NodeWorker.start(address())) {
      assertThat(run.result(TIMEOUT)).as(second::output).isEqualTo("charge lamp, ship lamp");
    }
    assertThat(shop.calls()).containsExactly("charge", "ship", "ship");
    assertThat(steps(run))
        .as("a crash does not count as a failed attempt")
        .containsExactlyInAnyOrder(
            "charge 1 " + StepStatus.STEP_STATUS_COMPLETED,
            "cool-off 1 " + StepStatus.STEP_STATUS_COMPLETED,
            "ship 1 " + StepStatus.STEP_STATUS_COMPLETED);
  }

  @Test
  void a_failed_step_is_retried_and_no_other_step_is_repeated() throws Exception {
    shop.shipAnswers(503, 503);

    try (NodeWorker worker = NodeWorker.start(address())) {
      RunHandle<String> run = start("book", 1);

      assertThat(run.result(TIMEOUT)).as(worker::output).isEqualTo("charge book, ship book");
      assertThat(steps(run))
          .contains(
              "ship 1 " + StepStatus.STEP_STATUS_FAILED,
              "ship 2 " + StepStatus.STEP_STATUS_FAILED,
              "ship 3 " + StepStatus.STEP_STATUS_COMPLETED);
    }
    assertThat(shop.calls()).containsExactly("charge", "ship", "ship", "ship");
  }

  @Test
  void a_replayed_failure_has_the_same_message() throws Exception {
    shop.shipAnswers(404);
    shop.refundAnswers(503);

    try (NodeWorker worker = NodeWorker.start(address())) {
      assertThat(start("vase", 0).result(TIMEOUT))
          .as(worker::output)
          .isEqualTo("refund vase: ship answered 404");
    }
    assertThat(shop.calls()).containsExactly("charge", "ship", "refund", "refund");
  }

  /** The code receives what is sent, and a replay receives it as UTF-8: no half of a character. */
  @Test
  void a_message_that_is_cut_within_a_character_is_the_same_in_a_replay() throws Exception {
    String worker = Files.readString(NodeWorker.SOURCES.resolve("worker.mjs"));
    int begin = worker.indexOf("const detail = ");
    String detail = worker.substring(begin, worker.indexOf("\n\n", begin));

    String printed =
        NodeWorker.evaluate(
            detail
                + """

                const code = { INVALID_ARGUMENT: 3 };
                const { message } = detail(new Error('x'.repeat(999) + String.fromCodePoint(128666)));
                console.log(message.length, message === Buffer.from(message).toString());
                """);

    assertThat(printed).isEqualTo("1000 true\n");
  }

  @Test
  void a_result_that_is_too_large_fails_the_step_without_a_retry() throws Exception {
    shop.padAnswers(3 << 20);

    try (NodeWorker worker = NodeWorker.start(address())) {
      RunHandle<String> run = start("atlas", 0);

      assertThatThrownBy(() -> run.result(TIMEOUT))
          .as(worker::output)
          .isInstanceOf(RunFailedException.class)
          .hasMessageContaining("output");
    }
    assertThat(shop.calls()).containsExactly("charge");
  }

  @Test
  void sigterm_stops_a_worker_that_never_reached_a_server() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        NodeWorker worker = NodeWorker.start("127.0.0.1:" + silent.getLocalPort())) {
      // The connection shows that the worker runs; before that, it has no SIGTERM handler.
      silent.accept().close();

      worker.terminate();

      assertThat(worker.exitCode()).as(worker::output).isZero();
    }
  }

  @Test
  void a_worker_that_was_forced_offline_registers_again_and_continues() throws Exception {
    try (NodeWorker worker = NodeWorker.start(address())) {
      Worker before = online(worker);
      AdminServiceGrpc.newBlockingStub(channel)
          .forceOfflineWorker(
              ForceOfflineWorkerRequest.newBuilder().setWorkerId(before.getWorkerId()).build());

      assertThat(start("lamp", 0).result(TIMEOUT))
          .as(worker::output)
          .isEqualTo("charge lamp, ship lamp");
      assertThat(online(worker).getWorkerId()).isNotEqualTo(before.getWorkerId());
    }
  }

  @Test
  void sigterm_lets_the_running_step_finish_and_takes_the_worker_offline() throws Exception {
    shop.holdShipping();
    RunHandle<String> run = start("lamp", 0);
    try (NodeWorker worker = NodeWorker.start(address())) {
      Worker registered = online(worker);
      assertThat(shop.nextCall()).isEqualTo("charge");
      assertThat(shop.nextCall()).isEqualTo("ship");

      worker.terminate();
      await()
          .atMost(TIMEOUT)
          .until(() -> status(registered) == WorkerStatus.WORKER_STATUS_DRAINING);
      shop.resumeShipping();

      assertThat(worker.exitCode()).as(worker::output).isZero();
      assertThat(run.result(TIMEOUT)).isEqualTo("charge lamp, ship lamp");
      assertThat(status(registered)).isEqualTo(WorkerStatus.WORKER_STATUS_OFFLINE);
    }
    assertThat(shop.calls()).containsExactly("charge", "ship");
  }

  private RunHandle<String> start(String item, int coolOffSeconds) {
    return kagzi.workflow(ORDER).start(new Order(shop.url(), item, coolOffSeconds));
  }

  private static List<String> steps(RunHandle<String> run) {
    return AdminServiceGrpc.newBlockingStub(channel)
        .listSteps(
            ListStepsRequest.newBuilder().setNamespace("default").setRunId(run.runId()).build())
        .getStepsList()
        .stream()
        .map(step -> step.getName() + " " + step.getAttemptNumber() + " " + step.getStatus())
        .toList();
  }

  /** Waits until the process is registered. */
  private static Worker online(NodeWorker worker) {
    return Objects.requireNonNull(
        await()
            .atMost(TIMEOUT)
            .until(
                () ->
                    workers().stream()
                        .filter(each -> each.getPid() == worker.pid())
                        .filter(each -> each.getStatus() == WorkerStatus.WORKER_STATUS_ONLINE)
                        .findFirst()
                        .orElse(null),
                Objects::nonNull));
  }

  private static WorkerStatus status(Worker registered) {
    return workers().stream()
        .filter(each -> each.getWorkerId().equals(registered.getWorkerId()))
        .map(Worker::getStatus)
        .findFirst()
        .orElse(WorkerStatus.WORKER_STATUS_UNSPECIFIED);
  }

  private static List<Worker> workers() {
    return AdminServiceGrpc.newBlockingStub(channel)
        .listWorkers(ListWorkersRequest.newBuilder().setNamespace("default").build())
        .getWorkersList();
  }
}
