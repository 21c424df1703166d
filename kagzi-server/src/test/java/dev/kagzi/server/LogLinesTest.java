package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.ListWorkflowsResponse;
import dev.kagzi.protocol.v1.PageRequest;
import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.PollTasksResponse;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.logging.Handler;
import java.util.logging.LogManager;
import java.util.logging.LogRecord;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** How much a server logs when others go away, with the levels that the command line ships. */
class LogLinesTest {
  private static final Path SHIPPED = Path.of("../kagzi-cli/src/main/resources/logback.xml");
  private static final Pattern LOGGER = Pattern.compile("<logger name=\"(.*?)\" level=\"(.*?)\"/>");
  private static final String STILL = "DatabaseFailures: the database is still away";
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final LongAdder traces = new LongAdder();
  private final Map<Logger, Level> before = new HashMap<>();
  private final Handler grpcLog = new GrpcLog();
  private final Lines appender = new Lines();

  private final class Lines extends AppenderBase<ILoggingEvent> {
    @Override
    protected void append(ILoggingEvent event) {
      add(event.getLoggerName(), event.getFormattedMessage(), event.getThrowableProxy() != null);
    }
  }

  /** What gRPC logs; the command line leads it to the same place. */
  private final class GrpcLog extends Handler {
    @Override
    public void publish(LogRecord record) {
      Logger logger = logger(String.valueOf(record.getLoggerName()));
      if (record.getLevel().intValue() >= java.util.logging.Level.WARNING.intValue()
          && logger.isEnabledFor(Level.WARN)) {
        add(record.getLoggerName(), record.getMessage(), record.getThrown() != null);
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  private void add(String from, String message, boolean trace) {
    lines.add(from.replaceAll(".*\\.", "") + ": " + message);
    if (trace) {
      traces.increment();
    }
  }

  private static Logger logger(String name) {
    return (Logger) LoggerFactory.getLogger(name);
  }

  @BeforeEach
  void capture() throws IOException {
    Matcher shipped = LOGGER.matcher(Files.readString(SHIPPED));
    while (shipped.find()) {
      Logger logger = logger(shipped.group(1));
      before.put(logger, logger.getLevel());
      logger.setLevel(Level.valueOf(shipped.group(2)));
    }
    appender.start();
    logger(org.slf4j.Logger.ROOT_LOGGER_NAME).addAppender(appender);
    LogManager.getLogManager().getLogger("").addHandler(grpcLog);
  }

  @AfterEach
  void release() {
    LogManager.getLogManager().getLogger("").removeHandler(grpcLog);
    logger(org.slf4j.Logger.ROOT_LOGGER_NAME).detachAppender(appender);
    before.forEach(Logger::setLevel);
  }

  /** Counts what has come; an error is an end as well. */
  private static final class Counting<T> implements StreamObserver<T> {
    final AtomicInteger answers;
    final AtomicInteger ends;

    Counting(AtomicInteger answers, AtomicInteger ends) {
      this.answers = answers;
      this.ends = ends;
    }

    @Override
    public void onNext(T answer) {
      answers.incrementAndGet();
    }

    @Override
    public void onError(Throwable why) {
      ends.incrementAndGet();
    }

    @Override
    public void onCompleted() {
      ends.incrementAndGet();
    }
  }

  @Test
  void a_database_that_goes_away_under_load_costs_one_line_and_one_when_it_is_back() {
    EmbeddedPostgres postgres = SharedPostgres.server();
    String name = SharedPostgres.createDatabase();
    try (TestLink link = new TestLink(postgres.port());
        TestServer server =
            TestServer.start(
                name,
                config ->
                    config.dbUrl("jdbc:postgresql://127.0.0.1:" + link.port() + "/" + name))) {
      server.startRun("q", "t");
      AtomicInteger refused = new AtomicInteger();
      AtomicInteger sent = new AtomicInteger();
      lines.clear();

      link.cut();
      Awaitility.await()
          .atMost(LIMIT)
          .pollInterval(Duration.ofMillis(20))
          .until(
              () -> {
                load(server, refused, sent);
                return refused.get() > 200 && sent.get() > 500;
              });
      link.mend();
      Awaitility.await()
          .atMost(LIMIT)
          .ignoreExceptions()
          .until(() -> !server.startRun("q", "t").isEmpty());
      Awaitility.await().atMost(LIMIT).until(() -> lines.getLast().endsWith("is back"));

      // A machine that is busy may take more than a minute.
      assertThat(lines.stream().filter(line -> !line.equals(STILL)))
          .containsExactly(
              "DatabaseFailures: the database is away", "DatabaseFailures: the database is back");
      assertThat(lines.stream().filter(STILL::equals)).hasSizeLessThanOrEqualTo(2);
      assertThat(traces.sum()).isZero();
    }
  }

  /** Reads and writes, from whom nobody waits for an answer. */
  private static void load(TestServer server, AtomicInteger refused, AtomicInteger sent) {
    if (sent.get() - refused.get() > 1_000) {
      return;
    }
    WorkflowServiceGrpc.WorkflowServiceStub calls =
        WorkflowServiceGrpc.newStub(server.sharedChannel()).withDeadlineAfter(30, TimeUnit.SECONDS);
    for (int i = 0; i < 10; i++) {
      sent.addAndGet(2);
      calls.startWorkflow(
          TestServer.start("q", "t").build(),
          new Counting<StartWorkflowResponse>(new AtomicInteger(), refused));
      calls.listWorkflows(
          ListWorkflowsRequest.getDefaultInstance(),
          new Counting<ListWorkflowsResponse>(new AtomicInteger(), refused));
    }
  }

  @Test
  void clients_that_are_killed_amid_calls_cost_a_line_each_at_most_and_no_stack_trace() {
    int clients = 5;
    try (TestServer server = TestServer.start()) {
      for (int i = 0; i < 30; i++) {
        server
            .workflows()
            .startWorkflow(
                TestServer.start("other", "t")
                    .setInput(TestServer.payload("\"" + "x".repeat(200_000) + "\""))
                    .build());
      }
      List<TestLink> links = new ArrayList<>();
      List<ManagedChannel> channels = new ArrayList<>();
      AtomicInteger answers = new AtomicInteger();
      AtomicInteger ends = new AtomicInteger();
      int calls = 0;
      for (int i = 0; i < clients; i++) {
        TestLink link = new TestLink(server.server().grpcPort());
        ManagedChannel channel =
            NettyChannelBuilder.forAddress("127.0.0.1", link.port())
                .usePlaintext()
                .flowControlWindow(64 << 10)
                .build();
        links.add(link);
        channels.add(channel);
        calls += amidCalls(channel, answers, ends);
      }
      int all = calls;
      Awaitility.await().atMost(LIMIT).until(() -> answers.get() > 0);
      lines.clear();

      links.forEach(TestLink::cut);
      Awaitility.await().atMost(LIMIT).until(() -> ends.get() == all);
      // What the broken calls still do in the server is over when none of them is open.
      Awaitility.await().atMost(LIMIT).until(() -> server.server().openCalls() == 0);
      server.startRun("q", "t");
      channels.forEach(ManagedChannel::shutdownNow);
      links.forEach(TestLink::close);

      assertThat(traces.sum()).as("%s", lines).isZero();
      // That a worker is gone is another event, and has its own line when it is noticed.
      assertThat(lines.stream().filter(line -> !line.startsWith("Workers: ")))
          .hasSizeLessThanOrEqualTo(clients);
      assertThat(lines).hasSizeLessThanOrEqualTo(2 * clients);
    }
  }

  /** Polls that wait, and reads whose answers do not fit into what the client takes. */
  private static int amidCalls(ManagedChannel channel, AtomicInteger answers, AtomicInteger ends) {
    String worker =
        WorkerServiceGrpc.newBlockingStub(channel)
            .register(RegisterRequest.newBuilder().setTaskQueue("q").addWorkflowTypes("t").build())
            .getWorkerId();
    int calls = 0;
    for (int i = 0; i < 20; i++) {
      WorkerServiceGrpc.newStub(channel)
          .pollTasks(
              PollTasksRequest.newBuilder()
                  .setTaskQueue("q")
                  .setWorkerId(worker)
                  .addTypes(TypeVersion.newBuilder().setWorkflowType("t"))
                  .setMaxTasks(1)
                  .setWaitMs(60_000)
                  .build(),
              new Counting<PollTasksResponse>(answers, ends));
      WorkflowServiceGrpc.newStub(channel)
          .listWorkflows(
              ListWorkflowsRequest.newBuilder()
                  .setPage(PageRequest.newBuilder().setPageSize(30).setIncludePayloads(true))
                  .build(),
              new Counting<ListWorkflowsResponse>(answers, ends));
      calls += 2;
    }
    return calls;
  }
}
