package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.CreateNamespaceRequest;
import dev.kagzi.protocol.v1.CreateNamespaceResponse;
import dev.kagzi.protocol.v1.DisableNamespaceRequest;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.ListNamespacesRequest;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.RegisterResponse;
import dev.kagzi.protocol.v1.ReportResponse;
import dev.kagzi.protocol.v1.RetryWorkflowResponse;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.protocol.v1.StartWorkflowsResponse;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.protobuf.ProtoMethodDescriptorSupplier;
import io.grpc.protobuf.StatusProto;
import java.io.ByteArrayInputStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * Sends 15,000 partly invalid requests to all calls of all services, and checks each response, the
 * log and what was stored. The system property {@code kagzi.requests} sets another number.
 */
class StrangeRequestsTest {
  private static final int REQUESTS = Integer.getInteger("kagzi.requests", 15_000);
  private static final long SEED = Long.getLong("kagzi.seed", 20_260_101);
  private static final int IN_FLIGHT = 64;
  private static final int MESSAGE_LENGTH_MAX = 1_001;

  /** Calls that wait by design, or take long: sent less often, with a short deadline. */
  private static final Set<String> WAITING =
      Set.of(
          "AwaitWorkflow",
          "GetPublished",
          "WatchWorkflows",
          "PollTask",
          "PollTasks",
          "Attach",
          "Diagnose");

  private static final int WAITING_EACH = 200;
  private static final long WAIT_MS = 20;

  private final Random random = new Random(SEED);
  private final Queue<String> faults = new ConcurrentLinkedQueue<>();
  private final Set<String> runs = ConcurrentHashMap.newKeySet();
  private final Set<String> workers = ConcurrentHashMap.newKeySet();
  private final Set<String> namespaces = ConcurrentHashMap.newKeySet();
  private final Semaphore places = new Semaphore(IN_FLIGHT);

  @Test
  void no_request_causes_an_internal_error_and_refused_data_is_not_stored() throws Exception {
    System.out.println("seed " + SEED + " (-Dkagzi.seed repeats it)");
    LogFaults log = LogFaults.attach();
    try (TestServer server = TestServer.start()) {
      ManagedChannel channel =
          InProcessChannelBuilder.forName(server.server().inProcessName()).build();
      Pool pool = new Pool(server);
      StrangeMessages messages = new StrangeMessages(random, pool);
      for (MethodDescriptor<?, ?> method : requests()) {
        pool.refreshSometimes();
        places.acquire();
        send(channel, method, keepNamespacesEnabled(messages.make(empty(method))));
      }
      assertThat(places.tryAcquire(IN_FLIGHT, 30, TimeUnit.SECONDS)).as("every call ends").isTrue();
      channel.shutdownNow();

      assertThat(faults).isEmpty();
      assertThat(log.events).as("errors in the log").isEmpty();
      assertStored(server);
    } finally {
      log.detach();
    }
  }

  /** Returns the calls to make, in an order that the seed determines. */
  private List<MethodDescriptor<?, ?>> requests() {
    List<MethodDescriptor<?, ?>> methods =
        Stream.of(
                WorkflowServiceGrpc.getServiceDescriptor(),
                WorkerServiceGrpc.getServiceDescriptor(),
                WorkflowScheduleServiceGrpc.getServiceDescriptor(),
                AdminServiceGrpc.getServiceDescriptor(),
                NamespaceServiceGrpc.getServiceDescriptor())
            .map(ServiceDescriptor::getMethods)
            .<MethodDescriptor<?, ?>>flatMap(list -> list.stream())
            .toList();
    List<MethodDescriptor<?, ?>> quick = methods.stream().filter(each -> !waits(each)).toList();
    List<MethodDescriptor<?, ?>> all = new ArrayList<>();
    methods.stream()
        .filter(StrangeRequestsTest::waits)
        .forEach(each -> all.addAll(Collections.nCopies(WAITING_EACH, each)));
    for (int i = 0; all.size() < REQUESTS; i++) {
      all.add(quick.get(i % quick.size()));
    }
    Collections.shuffle(all, random);
    return all;
  }

  private static boolean waits(MethodDescriptor<?, ?> method) {
    return WAITING.contains(method.getBareMethodName());
  }

  private static Message empty(MethodDescriptor<?, ?> method) {
    assertThat(method.getSchemaDescriptor()).isInstanceOf(ProtoMethodDescriptorSupplier.class);
    return (Message) method.parseRequest(new ByteArrayInputStream(new byte[0]));
  }

  /** Keeps the namespaces enabled in which the other calls work. */
  private static Message keepNamespacesEnabled(Message message) {
    if (message instanceof DisableNamespaceRequest disable
        && Set.of("", "default", "other").contains(disable.getNamespace())) {
      return disable.toBuilder().setNamespace("spare").build();
    }
    return message;
  }

  @SuppressWarnings("unchecked") // The message was built for the method.
  private <Q, A> void send(ManagedChannel channel, MethodDescriptor<Q, A> method, Message message) {
    long waitMs = waits(method) ? WAIT_MS : 20_000;
    ClientCall<Q, A> call =
        channel.newCall(
            method, CallOptions.DEFAULT.withDeadlineAfter(waitMs, TimeUnit.MILLISECONDS));
    call.start(
        new ClientCall.Listener<A>() {
          @Override
          public void onMessage(A answer) {
            check(method, message, answer);
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            check(method, message, status, trailers);
            places.release();
          }
        },
        new Metadata());
    call.request(1_000);
    call.sendMessage((Q) message);
    call.halfClose();
  }

  private void check(
      MethodDescriptor<?, ?> method, Message request, Status status, Metadata trailers) {
    Status.Code code = status.getCode();
    if (code == Status.Code.OK || (code == Status.Code.DEADLINE_EXCEEDED && waits(method))) {
      return;
    }
    ErrorDetail detail = detail(status, trailers);
    if (detail == null) {
      fault(method, request, "no detail in " + status);
      return;
    }
    switch (code) {
      case INVALID_ARGUMENT -> checkInvalidArgument(method, request, detail);
      case NOT_FOUND, ALREADY_EXISTS, FAILED_PRECONDITION, ABORTED, UNIMPLEMENTED ->
          checkMessage(method, request, detail);
      default -> fault(method, request, status.toString());
    }
  }

  private void checkInvalidArgument(
      MethodDescriptor<?, ?> method, Message request, ErrorDetail detail) {
    checkMessage(method, request, detail);
    if (!detail.getMessage().contains("(expected: ")) {
      fault(method, request, "lacks the expected value: " + detail.getMessage());
    }
  }

  private void checkMessage(MethodDescriptor<?, ?> method, Message request, ErrorDetail detail) {
    String message = detail.getMessage();
    if (message.isEmpty()
        || message.length() > MESSAGE_LENGTH_MAX
        || detail.getMetadataOrDefault("code", "").isEmpty()) {
      fault(method, request, "message: " + message + " " + detail.getMetadataMap());
    }
  }

  /** Items of successful calls may be refused one by one; ids of created things go to the pool. */
  private void check(MethodDescriptor<?, ?> method, Message request, Object answer) {
    switch (answer) {
      case StartWorkflowResponse started -> runs.add(started.getRunId());
      case RetryWorkflowResponse retried -> runs.add(retried.getNewRunId());
      case RegisterResponse registered -> workers.add(registered.getWorkerId());
      case CreateNamespaceResponse created -> namespaces.add(created.getNamespace().getNamespace());
      case StartWorkflowsResponse started ->
          started
              .getResultsList()
              .forEach(
                  result -> {
                    if (result.hasStarted()) {
                      runs.add(result.getStarted().getRunId());
                    } else {
                      checkRefusedItem(method, request, result.getRefused());
                    }
                  });
      case ReportResponse reported ->
          reported.getResultsList().stream()
              .filter(result -> result.hasRefused())
              .forEach(result -> checkRefusedItem(method, request, result.getRefused()));
      default -> {}
    }
  }

  private void checkRefusedItem(
      MethodDescriptor<?, ?> method, Message request, ErrorDetail refused) {
    switch (refused.getMetadataOrDefault("status", "")) {
      case "INVALID_ARGUMENT" -> checkInvalidArgument(method, request, refused);
      case "NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION", "UNIMPLEMENTED" ->
          checkMessage(method, request, refused);
      default -> fault(method, request, refused.toString());
    }
  }

  private void fault(MethodDescriptor<?, ?> method, Message request, String what) {
    if (faults.size() < 20) {
      String shown = request.toString();
      faults.add(
          "%s: %s%nto %s"
              .formatted(
                  method.getFullMethodName(),
                  what,
                  shown.length() <= 1_500 ? shown : shown.substring(0, 1_500) + "…"));
    }
  }

  private static @Nullable ErrorDetail detail(Status status, Metadata trailers) {
    com.google.rpc.Status rpcStatus =
        StatusProto.fromThrowable(new StatusRuntimeException(status, trailers));
    if (rpcStatus == null || rpcStatus.getDetailsCount() == 0) {
      return null;
    }
    Any any = rpcStatus.getDetails(0);
    try {
      return any.is(ErrorDetail.class) ? any.unpack(ErrorDetail.class) : null;
    } catch (InvalidProtocolBufferException e) {
      return null;
    }
  }

  private void assertStored(TestServer server) throws SQLException {
    assertThat(stored(server, "SELECT run_id FROM kagzi.workflow_runs WHERE origin = 'CLIENT'"))
        .as("runs in the table that no response contained")
        .isSubsetOf(runs);
    assertThat(stored(server, "SELECT worker_id FROM kagzi.workers")).isSubsetOf(workers);
    assertThat(stored(server, "SELECT namespace FROM kagzi.namespaces"))
        .isSubsetOf(Stream.concat(namespaces.stream(), Stream.of("default")).toList());
  }

  private static List<String> stored(TestServer server, String sql) throws SQLException {
    var postgres = SharedPostgres.server();
    try (Connection connection =
            DriverManager.getConnection(
                postgres.jdbcUrl(server.database()), postgres.user(), postgres.password());
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      List<String> found = new ArrayList<>();
      while (rows.next()) {
        found.add(rows.getString(1));
      }
      return found;
    }
  }

  /** Runs, workers and tokens that exist, some of them in another namespace. */
  private final class Pool implements StrangeMessages.LiveThings {
    private static final int REFRESH_EVERY = 2_000;
    private final TestServer server;
    private final List<String> runIds = new ArrayList<>();
    private final List<String> workerIds = new ArrayList<>();
    private final List<String> tokens = new ArrayList<>();
    private int asked;

    Pool(TestServer server) {
      this.server = server;
      for (String name : List.of("other", "spare")) {
        server
            .namespaces()
            .createNamespace(CreateNamespaceRequest.newBuilder().setNamespace(name).build());
        namespaces.add(name);
      }
    }

    void refreshSometimes() {
      if (asked++ % REFRESH_EVERY != 0) {
        return;
      }
      runIds.clear();
      workerIds.clear();
      for (String namespace : List.of("default", "default", "other")) {
        String run =
            server
                .workflows()
                .startWorkflow(TestServer.start("pool", "p").setNamespace(namespace).build())
                .getRunId();
        runs.add(run);
        runIds.add(run);
      }
      BatchWorker worker = new BatchWorker(server, "pool", "p");
      workers.add(worker.id);
      workerIds.add(worker.id);
      worker.poll(1);
      runIds.add(UUID.randomUUID().toString());
      workerIds.add(UUID.randomUUID().toString());
      readTokens();
    }

    private void readTokens() {
      tokens.clear();
      PageRequest page = PageRequest.newBuilder().setPageSize(1).build();
      tokens.add(
          server
              .namespaces()
              .listNamespaces(ListNamespacesRequest.newBuilder().setPage(page).build())
              .getPage()
              .getNextPageToken());
      tokens.add(
          server
              .workflows()
              .listWorkflows(ListWorkflowsRequest.newBuilder().setPage(page).build())
              .getPage()
              .getNextPageToken());
      tokens.add("");
    }

    @Override
    public String text(Random random, String field) {
      if (field.endsWith("run_id") || field.endsWith("run_ids") || field.equals("retry_of")) {
        return any(random, runIds);
      }
      return switch (field) {
        case "worker_id" -> any(random, workerIds);
        case "step_id", "parent_step_id" -> any(random, runIds) + "/s" + random.nextInt(3) + "@1.1";
        case "page_token" -> any(random, tokens);
        case "namespace", "namespace_id" ->
            any(random, List.of("", "default", "default", "other", "spare", "none"));
        case "task_queue", "on_failure_task_queue" -> "pool";
        case "cron_expr" -> any(random, List.of("* * * * *", "0 0 1 1 *", "61 * * * *"));
        case "time_zone" -> any(random, List.of("UTC", "Europe/Berlin", "Mars/Olympus"));
        case "external_id" -> "e" + random.nextInt(200);
        case "workflow_type" -> any(random, List.of("p", "none"));
        default -> any(random, List.of("s0", "s1", "s2", ""));
      };
    }

    private static String any(Random random, List<String> values) {
      return values.get(random.nextInt(values.size()));
    }
  }

  /** Collects log lines that the server should not have written. */
  private static final class LogFaults extends AppenderBase<ILoggingEvent> {
    final Queue<String> events = new ConcurrentLinkedQueue<>();

    static LogFaults attach() {
      LogFaults faults = new LogFaults();
      faults.start();
      root().addAppender(faults);
      return faults;
    }

    void detach() {
      root().detachAppender(this);
    }

    private static Logger root() {
      return (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    }

    @Override
    protected void append(ILoggingEvent event) {
      boolean isFault =
          event.getThrowableProxy() != null
              || event.getLevel().isGreaterOrEqual(Level.ERROR)
              || event.getFormattedMessage().contains("the database refused a value");
      if (isFault && events.size() < 20) {
        events.add(event.getLoggerName() + ": " + event.getFormattedMessage());
      }
    }
  }
}
