package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.config.WorkerConfig;
import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.ListWorkflowsRequest;
import dev.kagzi.protocol.v1.ListWorkflowsResponse;
import dev.kagzi.protocol.v1.StartWorkflowResponse;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** How much a server logs when clients or the database disappear, at the command line's levels. */
class LogLinesTest {
  private static final Path SHIPPED = Path.of("../kagzi-cli/src/main/resources/logback.xml");
  private static final Pattern LOGGER = Pattern.compile("<logger name=\"(.*?)\" level=\"(.*?)\"/>");
  private static final String STILL = "DatabaseFailureLog: the database is still unavailable";
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration NEVER = Duration.ofHours(1);

  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final LongAdder traces = new LongAdder();
  private final Map<Logger, Level> before = new HashMap<>();
  private final Handler grpcLog = new GrpcLog();
  private final Lines appender = new Lines();

  private final class Lines extends AppenderBase<ILoggingEvent> {
    @Override
    protected void append(ILoggingEvent event) {
      IThrowableProxy thrown = event.getThrowableProxy();
      add(
          event.getLoggerName(),
          event.getFormattedMessage(),
          thrown == null ? null : String.valueOf(thrown.getMessage()));
    }
  }

  /** Collects gRPC's log, which the command line routes to the same output. */
  private final class GrpcLog extends Handler {
    @Override
    public void publish(LogRecord record) {
      Logger logger = logger(String.valueOf(record.getLoggerName()));
      if (record.getLevel().intValue() >= java.util.logging.Level.WARNING.intValue()
          && logger.isEnabledFor(Level.WARN)) {
        Throwable thrown = record.getThrown();
        add(
            record.getLoggerName(),
            record.getMessage(),
            thrown == null ? null : String.valueOf(thrown.getMessage()));
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  private void add(String from, String message, @Nullable String thrown) {
    String line = from.replaceAll(".*\\.", "") + ": " + message;
    if (thrown == null) {
      lines.add(line);
    } else {
      traces.increment();
      lines.add(line + ": " + thrown);
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

  /** Counts messages; an error counts as an end. */
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
  void a_lost_database_under_load_logs_one_line_and_one_when_it_is_back() {
    EmbeddedPostgres postgres = SharedPostgres.server();
    String name = TestServer.createDatabase();
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
      link.restore();
      Awaitility.await()
          .atMost(LIMIT)
          .ignoreExceptions()
          .until(() -> !server.startRun("q", "t").isEmpty());
      Awaitility.await().atMost(LIMIT).until(() -> lines.getLast().endsWith("is available again"));

      // On a busy machine the outage may last longer than a minute, which logs another line.
      assertThat(lines.stream().filter(line -> !line.equals(STILL)))
          .containsExactly(
              "DatabaseFailureLog: the database is unavailable",
              "DatabaseFailureLog: the database is available again");
      assertThat(lines.stream().filter(STILL::equals)).hasSizeLessThanOrEqualTo(2);
      assertThat(traces.sum()).isZero();
    }
  }

  /** Reads and writes; nobody waits for the responses. */
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
  void clients_killed_during_calls_log_at_most_a_line_each_and_no_stack_trace() {
    int clients = 5;
    try (TestServer server = serverWithLargeRuns(EngineConfig.defaults())) {
      List<TestLink> links = new ArrayList<>();
      List<ManagedChannel> channels = new ArrayList<>();
      List<OpenCallsClient> callers = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        TestLink link = new TestLink(server.server().grpcPort());
        ManagedChannel channel = OpenCallsClient.channel(link.port());
        OpenCallsClient caller = new OpenCallsClient(channel);
        caller.openPollsAndReads();
        links.add(link);
        channels.add(channel);
        callers.add(caller);
      }
      Awaitility.await()
          .atMost(LIMIT)
          .until(() -> callers.stream().anyMatch(caller -> caller.answers.get() > 0));
      lines.clear();

      links.forEach(TestLink::cut);
      callers.forEach(LogLinesTest::awaitEnds);
      // The server has finished the broken calls when none is open.
      Awaitility.await().atMost(LIMIT).until(() -> server.server().openCalls() == 0);
      server.startRun("q", "t");
      channels.forEach(ManagedChannel::shutdownNow);
      links.forEach(TestLink::close);

      assertFewLines(clients);
    }
  }

  @Test
  void callers_that_cancel_during_responses_log_at_most_a_line_per_connection_and_no_stack_trace() {
    int clients = 2;
    int rounds = 60;
    // The workers send no heartbeats.
    WorkerConfig patient =
        new WorkerConfig(Duration.ofSeconds(3), Duration.ofMinutes(1), NEVER, NEVER);
    try (TestServer server = serverWithLargeRuns(EngineConfig.defaults().withWorkers(patient))) {
      List<ManagedChannel> channels = new ArrayList<>();
      List<OpenCallsClient> callers = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        ManagedChannel channel = OpenCallsClient.channel(server.server().grpcPort());
        channels.add(channel);
        callers.add(new OpenCallsClient(channel));
      }
      lines.clear();

      for (int round = 0; round < rounds; round++) {
        cancelAmidAnswers(server, callers, round);
      }
      Awaitility.await().atMost(LIMIT).until(() -> server.server().openCalls() == 0);
      server.startRun("q", "t");

      assertFewLines(clients);
      channels.forEach(ManagedChannel::shutdownNow);
    }
  }

  /** In every other round the callers cancel before the first response. */
  private static void cancelAmidAnswers(
      TestServer server, List<OpenCallsClient> callers, int round) {
    String awaited = server.startRun("nobody", "t");
    List<Integer> before = callers.stream().map(caller -> caller.answers.get()).toList();
    try (Context.CancellableContext calls = Context.current().withCancellation()) {
      calls.run(() -> callers.forEach(caller -> caller.open(List.of(awaited))));
      // Triggers the responses to awaits, watches and polls.
      server
          .workflows()
          .cancelWorkflow(CancelWorkflowRequest.newBuilder().setRunId(awaited).build());
      for (int i = 0; i < 5; i++) {
        server.startRun("q", "t");
      }
      if (round % 2 == 0) {
        for (int i = 0; i < before.size(); i++) {
          OpenCallsClient caller = callers.get(i);
          int answers = before.get(i);
          await().until(() -> caller.answers.get() > answers);
        }
      }
    }
    callers.forEach(LogLinesTest::awaitEnds);
  }

  @Test
  void a_worker_that_is_stopped_and_continued_logs_at_most_a_line_and_no_stack_trace()
      throws Exception {
    try (TestServer server = serverWithLargeRuns(EngineConfig.defaults())) {
      Process worker = startWorker(server.server().grpcPort());
      try (BufferedReader output = worker.inputReader(StandardCharsets.UTF_8)) {
        awaitRegistered(output);
        Awaitility.await().atMost(LIMIT).until(() -> server.server().openCalls() > 20);
        lines.clear();

        signal(worker, "STOP");
        for (int i = 0; i < 5; i++) {
          server.startRun("q", "t");
        }
        // The server closes the connection because it does not answer pings.
        Awaitility.await().atMost(LIMIT).until(() -> server.server().openCalls() == 0);
        Awaitility.await()
            .atMost(LIMIT)
            .until(() -> lines.stream().anyMatch(LogLinesTest::isOfWorker));
        signal(worker, "CONT");
        awaitRegistered(output);
        server.startRun("q", "t");

        assertFewLines(1);
      } finally {
        worker.destroyForcibly();
      }
    }
  }

  private static void awaitRegistered(BufferedReader output) throws IOException {
    String line;
    do {
      line = output.readLine();
      assertThat(line).as("output of the worker").isNotNull();
    } while (!line.equals("registered"));
  }

  /** A worker went offline or came back. */
  private static boolean isOfWorker(String line) {
    return line.startsWith("Workers: ") || line.startsWith("Recovery: ");
  }

  private static Process startWorker(int port) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            StoppableWorker.class.getName(),
            Integer.toString(port))
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  private static void signal(Process process, String signal) throws Exception {
    int exit =
        new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();
    assertThat(exit).isZero();
  }

  /** Starts a server whose run lists do not fit into a client's flow-control window. */
  private static TestServer serverWithLargeRuns(EngineConfig engine) {
    TestServer server =
        TestServer.start(TestServer.createDatabase(), config -> config.engine(engine));
    for (int i = 0; i < 30; i++) {
      server
          .workflows()
          .startWorkflow(
              TestServer.start("other", "t")
                  .setInput(TestServer.payload("\"" + "x".repeat(200_000) + "\""))
                  .build());
    }
    return server;
  }

  /** Looks often, because there are many rounds. */
  private static ConditionFactory await() {
    return Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(5));
  }

  private static void awaitEnds(OpenCallsClient caller) {
    await().until(() -> caller.ends.get() == caller.opened.get());
  }

  private void assertFewLines(int connections) {
    assertThat(traces.sum()).as("stack traces in %s", lines).isZero();
    assertThat(lines.stream().filter(line -> !isOfWorker(line)))
        .hasSizeLessThanOrEqualTo(connections);
    assertThat(
            lines.stream()
                .filter(LogLinesTest::isOfWorker)
                .filter(line -> !line.equals("Workers: worker registered")))
        .hasSizeLessThanOrEqualTo(connections);
  }
}
