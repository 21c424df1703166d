package dev.kagzi.sdk.e2e;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.sdk.Admin;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Namespaces;
import dev.kagzi.sdk.PingResult;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.ResultTimeoutException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunList;
import dev.kagzi.sdk.Schedule;
import dev.kagzi.sdk.ScheduleBuilder;
import dev.kagzi.sdk.ScheduleChange;
import dev.kagzi.sdk.ScheduleInfo;
import dev.kagzi.sdk.Schedules;
import dev.kagzi.sdk.ServerUnavailableException;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowStarter;
import dev.kagzi.sdk.WorkflowType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What clients and workers do while their server is stopped or does not answer. */
@SuppressWarnings("NullAway.Init")
class ServerAwayTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(1);

  /**
   * Much longer than the timeout, for busy machines, and shorter than the default call timeout of
   * 10 s.
   */
  private static final Duration AT_MOST = Duration.ofSeconds(8);

  private static final String RUN_ID = "01980000-0000-7000-8000-000000000000";
  private static final WorkflowType<String, String> GREET =
      WorkflowType.of("greet", String.class, String.class);

  /** Methods that send no request, or that wait without a limit. */
  private static final Set<String> WITHOUT_TIMEOUT =
      Set.of(
          "Kagzi.connect",
          "Kagzi.builder",
          "Kagzi.close",
          "Kagzi.list",
          "Kagzi.admin",
          "Kagzi.namespace",
          "Kagzi.namespaces",
          "Kagzi.relayOutbox",
          "Kagzi.relays",
          "Kagzi.replayer",
          "Kagzi.schedule",
          "Kagzi.schedules",
          "Kagzi.worker",
          "Kagzi.workers",
          "Kagzi.workflow",
          "RunHandle.existed",
          "RunHandle.result",
          "RunHandle.resultAsync",
          "RunHandle.runId",
          "RunHandle.signalIn",
          "RunHandle.signalInOutbox",
          "RunHandle.toString",
          "RunHandle.watch",
          "Schedule.name",
          "Schedule.workflow",
          "ScheduleBuilder.createOrUpdateWhenConnected",
          "WorkflowStarter.startIn",
          "WorkflowStarter.startInOutbox");

  private RealServer server;

  @BeforeEach
  void startServer() {
    server = new RealServer();
  }

  @AfterEach
  void stopServer() {
    server.close();
  }

  /** A stopped server may throw in its own threads, which does not concern the client. */
  private static ConditionFactory soon() {
    return await().atMost(SOON).dontCatchUncaughtExceptions();
  }

  private static Kagzi connect(String address) {
    return Kagzi.builder().address(address).callTimeout(CALL_TIMEOUT).connect();
  }

  @Test
  void every_call_fails_within_the_call_timeout_while_no_server_is_there() throws Exception {
    server.stop();

    try (Kagzi kagzi = connect(server.address())) {
      Map<String, Throwable> failures = failures(calls(kagzi));

      assertThat(failures).hasSameSizeAs(calls(kagzi));
      assertThat(failures)
          .allSatisfy(
              (call, failure) ->
                  assertThat(failure)
                      .as(call)
                      .isInstanceOf(ServerUnavailableException.class)
                      .hasMessageContaining(server.address())
                      .hasMessageContaining("no server answers: Connection refused"));
    } finally {
      server.startAgain();
    }
  }

  @Test
  void every_call_fails_within_the_call_timeout_while_a_server_accepts_but_does_not_answer()
      throws Exception {
    try (TcpProxy proxy = new TcpProxy(server.port())) {
      proxy.stall();
      try (Kagzi kagzi = connect(proxy.address())) {
        assertSilence(proxy, failures(calls(kagzi)));
      }
    }
  }

  @Test
  void every_call_fails_within_the_call_timeout_once_an_open_connection_is_silent()
      throws Exception {
    try (TcpProxy proxy = new TcpProxy(server.port());
        Kagzi kagzi = connect(proxy.address())) {
      soon().ignoreExceptions().untilAsserted(() -> kagzi.ping(SOON));
      kagzi.workflow(GREET).startAsync("Ada").get(60, TimeUnit.SECONDS);
      proxy.stall();

      assertSilence(proxy, failures(calls(kagzi)));
    }
  }

  private static void assertSilence(TcpProxy proxy, Map<String, Throwable> failures) {
    assertThat(failures).isNotEmpty();
    assertThat(failures)
        .allSatisfy(
            (call, failure) ->
                assertThat(failure)
                    .as(call)
                    .isInstanceOf(ServerUnavailableException.class)
                    .hasMessageContaining(proxy.address())
                    .hasMessageContaining("no answer within 1000 ms"));
  }

  @Test
  void this_test_covers_every_call_of_the_client() {
    try (Kagzi kagzi = connect(server.address())) {
      Set<String> known =
          calls(kagzi).keySet().stream().map(call -> call.replaceFirst(" .*", "")).collect(toSet());

      assertThat(
              Stream.of(Kagzi.class, RunHandle.class, Schedule.class, Namespaces.class, Admin.class)
                  .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                  .filter(method -> Modifier.isPublic(method.getModifiers()))
                  .map(ServerAwayTest::name)
                  .filter(name -> !WITHOUT_TIMEOUT.contains(name)))
          .isSubsetOf(known);
      // Of builders, the methods that do not return the builder.
      assertThat(
              Stream.of(
                      WorkflowStarter.class,
                      RunList.class,
                      Schedules.class,
                      ScheduleBuilder.class,
                      ScheduleChange.class)
                  .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                  .filter(method -> Modifier.isPublic(method.getModifiers()))
                  .filter(method -> method.getReturnType() != method.getDeclaringClass())
                  .map(ServerAwayTest::name)
                  .filter(name -> !WITHOUT_TIMEOUT.contains(name)))
          .isSubsetOf(known);
    }
  }

  private static String name(Method method) {
    return method.getDeclaringClass().getSimpleName() + "." + method.getName();
  }

  private static Map<String, ThrowingCallable> calls(Kagzi kagzi) {
    RunHandle<String> run = kagzi.run(RUN_ID, GREET);
    Schedule schedule = kagzi.schedule("daily");
    Namespaces namespaces = kagzi.namespaces();
    Map<String, ThrowingCallable> calls = new HashMap<>();
    calls.put("WorkflowStarter.start", () -> kagzi.workflow(GREET).start("Ada"));
    calls.put("WorkflowStarter.startAsync", () -> get(kagzi.workflow(GREET).startAsync("Ada")));
    calls.put("WorkflowStarter.startAll", () -> kagzi.workflow(GREET).startAll(List.of("a", "b")));
    Signal<String> word = Signal.of("word", String.class);
    calls.put(
        "WorkflowStarter.signalOrStart",
        () -> kagzi.workflow(GREET).id("order-42").signalOrStart(word, "x", "Ada"));
    calls.put("RunHandle.signal", () -> run.signal(word, "x"));
    calls.put("RunHandle.signals", run::signals);
    calls.put("RunHandle.published", () -> run.published("progress", String.class));
    calls.put("RunHandle.completeCallback", () -> run.completeCallback("payment", 1));
    calls.put("RunHandle.failCallback", () -> run.failCallback("payment", "no"));
    calls.put("RunHandle.successor", run::successor);
    calls.put("Kagzi.run", () -> kagzi.run(GREET, "order-42"));
    calls.put("Kagzi.get", () -> kagzi.get(RUN_ID));
    calls.put("Kagzi.getByWorkflowId", () -> kagzi.getByWorkflowId("order-42"));
    calls.put("Kagzi.history", () -> kagzi.history(RUN_ID));
    calls.put("Kagzi.setDefaultVersion", () -> kagzi.setDefaultVersion(GREET.version("2")));
    calls.put("Kagzi.ping", kagzi::ping);
    calls.put("RunHandle.status", run::status);
    calls.put("RunHandle.info", run::info);
    calls.put("RunHandle.history", run::history);
    calls.put("RunHandle.explain", run::explain);
    calls.put("RunHandle.cancel", run::cancel);
    calls.put("RunHandle.terminate", () -> run.terminate("enough"));
    calls.put("RunHandle.retry", run::retry);
    calls.put("RunHandle.retryWithVersion", () -> run.retryWithVersion("2"));
    calls.put("RunHandle.resume", run::resume);
    calls.put("RunHandle.forceResume", run::forceResume);
    calls.put("RunList.page", () -> kagzi.list().page());
    calls.put("RunList.stream", () -> kagzi.list().stream().toList());
    calls.put("Schedule.get", schedule::get);
    calls.put("Schedule.change", schedule::change);
    calls.put("Schedule.pause", schedule::pause);
    calls.put("Schedule.resume", schedule::resume);
    calls.put("Schedule.trigger", schedule::trigger);
    calls.put("Schedule.backfill", () -> schedule.backfill(Instant.EPOCH, Instant.EPOCH));
    calls.put("Schedule.delete", schedule::delete);
    calls.put("Schedule.runs", schedule::runs);
    calls.put("ScheduleChange.save", () -> schedule.change().save());
    calls.put("ScheduleBuilder.create", () -> daily(schedule).create());
    calls.put("ScheduleBuilder.createOrUpdate", () -> daily(schedule).createOrUpdate());
    calls.put("ScheduleBuilder.next", () -> daily(schedule).next(1));
    calls.put("Schedules.stream", () -> kagzi.schedules().stream().toList());
    calls.put("Schedules.next", () -> kagzi.schedules().next("@daily", "UTC", 1));
    calls.put("Namespaces.create", () -> namespaces.create("new"));
    calls.put("Namespaces.get", () -> namespaces.get("default"));
    calls.put("Namespaces.list", () -> namespaces.list().toList());
    calls.put("Namespaces.describe", () -> namespaces.describe("default", "a", "b"));
    calls.put("Namespaces.retention", () -> namespaces.retention("default", SOON));
    calls.put("Namespaces.defaultRetention", () -> namespaces.defaultRetention("default"));
    calls.put("Namespaces.clearFailureHandler", () -> namespaces.clearFailureHandler("default"));
    calls.put("Namespaces.enable", () -> namespaces.enable("default"));
    calls.put("Namespaces.disable", () -> namespaces.disable("default"));
    addAdmin(calls, kagzi.admin());
    return calls;
  }

  private static void addAdmin(Map<String, ThrowingCallable> calls, Admin admin) {
    calls.put("Admin.stats", admin::stats);
    calls.put("Admin.queues", () -> admin.queues().toList());
    calls.put("Admin.queueDepth", admin::queueDepth);
    calls.put("Admin.workers", () -> admin.workers().toList());
    calls.put("Admin.workerEvents", () -> admin.workerEvents(RUN_ID).toList());
    calls.put("Admin.drainWorker", () -> admin.drainWorker(RUN_ID));
    calls.put("Admin.forceWorkerOffline", () -> admin.forceWorkerOffline(RUN_ID, "test"));
  }

  private static ScheduleBuilder<String> daily(Schedule schedule) {
    return schedule.workflow(GREET).cron("@daily").input("Ada");
  }

  private static void get(CompletableFuture<?> future) throws Throwable {
    try {
      future.get(60, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause();
    }
  }

  /** Makes all calls at the same time and returns how each ended. */
  private static Map<String, Throwable> failures(Map<String, ThrowingCallable> calls)
      throws InterruptedException {
    ConcurrentMap<String, Throwable> failures = new ConcurrentHashMap<>();
    List<Thread> threads =
        calls.entrySet().stream()
            .map(
                call ->
                    Thread.ofPlatform()
                        .daemon()
                        .start(() -> failures.put(call.getKey(), failure(call.getValue()))))
            .toList();
    long endNanos = System.nanoTime() + AT_MOST.toNanos();
    for (Thread thread : threads) {
      thread.join(Duration.ofNanos(Math.max(1, endNanos - System.nanoTime())));
    }
    assertThat(calls.keySet())
        .as("calls that are over after %s", AT_MOST)
        .isSubsetOf(failures.keySet());
    return failures;
  }

  private static Throwable failure(ThrowingCallable call) {
    try {
      call.call();
      return new AssertionError("no failure");
    } catch (Throwable e) {
      return e;
    }
  }

  @Test
  void a_result_is_awaited_while_the_server_is_down_and_a_timeout_ends_the_wait() throws Exception {
    try (Kagzi kagzi = connect(server.address())) {
      soon().ignoreExceptions().untilAsserted(() -> kagzi.ping());
      RunHandle<String> run = kagzi.workflow(GREET).start("Ada");
      server.stop();
      CompletableFuture<String> result = run.resultAsync();

      assertThatThrownBy(() -> run.result(CALL_TIMEOUT.multipliedBy(2)))
          .isInstanceOf(ResultTimeoutException.class);
      assertThat(result).as("longer than the call timeout").isNotDone();

      server.startAgain();
      kagzi.worker().workflow(GREET, (ctx, name) -> "Hello " + name).start();
      assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("Hello Ada");
    }
  }

  @Test
  void a_schedule_can_be_saved_as_soon_as_there_is_a_server() throws Exception {
    server.stop();
    try (Kagzi kagzi = connect(server.address())) {
      CompletableFuture<ScheduleInfo> saved =
          daily(kagzi.schedule("daily")).createOrUpdateWhenConnected();
      assertThatThrownBy(() -> daily(kagzi.schedule("daily")).createOrUpdate())
          .isInstanceOf(ServerUnavailableException.class);
      assertThat(saved).as("longer than the call timeout").isNotDone();

      server.startAgain();

      ScheduleInfo schedule = saved.get(60, TimeUnit.SECONDS);
      assertThat(kagzi.schedule("daily").get().id()).isEqualTo(schedule.id());
      assertThat(daily(kagzi.schedule("daily")).createOrUpdateWhenConnected())
          .succeedsWithin(SOON)
          .extracting(ScheduleInfo::id)
          .isEqualTo(schedule.id());
    }
  }

  @Test
  void a_schedule_that_waits_for_a_server_fails_when_it_is_refused_or_the_client_is_closed() {
    CompletableFuture<ScheduleInfo> refused;
    CompletableFuture<ScheduleInfo> closed;
    try (Kagzi kagzi = connect(server.address())) {
      refused =
          kagzi.schedule("never").workflow(GREET).cron("99 * * * *").createOrUpdateWhenConnected();

      assertThat(refused)
          .failsWithin(SOON)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(RequestRefusedException.class);
      server.stop();
      closed = daily(kagzi.schedule("daily")).createOrUpdateWhenConnected();
    }

    assertThat(closed)
        .failsWithin(SOON)
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(ServerUnavailableException.class);
    server.startAgain();
  }

  @Test
  void a_ping_tells_whether_there_is_a_server_now_and_which() {
    try (TcpProxy proxy = new TcpProxy(server.port());
        Kagzi kagzi = Kagzi.builder().address("127.0.0.1:1," + proxy.address()).connect()) {
      PingResult first = kagzi.ping();
      assertThat(first.address()).isEqualTo(proxy.address());
      assertThat(first.serverVersion()).isNotEmpty();
      assertThat(first.roundTrip()).isPositive();

      proxy.stall();
      assertThatThrownBy(() -> kagzi.ping(CALL_TIMEOUT))
          .isInstanceOf(ServerUnavailableException.class)
          .hasMessageContaining(proxy.address())
          .hasMessageContaining("no answer within 1000 ms");
      proxy.flow();
      assertThat(kagzi.ping().address()).isEqualTo(proxy.address());
    }
  }

  @Test
  void a_ping_finds_a_server_that_has_just_come_back() {
    try (Kagzi kagzi = Kagzi.connect(server.address())) {
      kagzi.ping();
      server.stop();
      assertThatThrownBy(kagzi::ping)
          .isInstanceOf(ServerUnavailableException.class)
          .hasMessageContaining(server.address())
          .hasMessageContaining("Connection refused");

      server.startAgain();

      soon().ignoreExceptions().untilAsserted(() -> kagzi.ping());
    }
  }

  @Test
  void a_worker_is_connected_while_its_server_answers_and_only_then() throws Exception {
    try (TcpProxy proxy = new TcpProxy(server.port());
        Kagzi kagzi = Kagzi.connect(proxy.address())) {
      proxy.shut();
      Worker worker = kagzi.worker().workflow(GREET, (ctx, name) -> name).start();
      assertThat(worker.isConnected()).as("before the first registration").isFalse();

      proxy.reopen();
      assertThat(worker.awaitRegistered(SOON)).isTrue();
      soon().until(worker::isConnected);

      proxy.stall();
      soon().until(() -> !worker.isConnected());
      assertThat(worker.isRegistered()).isTrue();

      proxy.flow();
      soon().until(worker::isConnected);

      server.stop();
      soon().until(() -> !worker.isConnected());
      server.startAgain();
      soon().until(worker::isConnected);

      worker.close();
      assertThat(worker.isConnected()).as("after its end").isFalse();
    }
  }

  @Test
  void a_client_of_the_http_port_says_that_it_is_the_http_port() {
    try (Kagzi kagzi = connect("127.0.0.1:" + server.httpPort())) {
      for (ThrowingCallable call :
          List.<ThrowingCallable>of(
              kagzi::ping, () -> kagzi.get(RUN_ID), () -> kagzi.workflow(GREET).start("Ada"))) {
        assertThatThrownBy(call)
            .isInstanceOf(ServerUnavailableException.class)
            .hasMessageContaining("127.0.0.1:" + server.httpPort())
            .hasMessageContaining("HTTP port")
            .hasMessageContaining("expected: the gRPC port of the server, 50051 by default");
      }
    }
  }
}
