package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import dev.kagzi.protocol.v1.AdminServiceGrpc;
import dev.kagzi.protocol.v1.NamespaceServiceGrpc;
import dev.kagzi.protocol.v1.WorkerServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.protocol.v1.WorkflowServiceGrpc;
import dev.kagzi.sdk.Admin;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Namespaces;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.Retry;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.Schedule;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.WorkflowType;
import dev.kagzi.sdk.e2e.RecordingProxy.Call;
import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import io.grpc.stub.MetadataUtils;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What a server receives with each gRPC method that the SDK calls: the headers that interceptors of
 * the user add, and a deadline.
 */
class HeadersTest {
  private static final Duration SOON = Duration.ofSeconds(30);

  /** Added by {@code Kagzi.builder().grpcInterceptor(..)}. */
  private static final String OF_CALL = "traceparent";

  /** Added by an interceptor of {@code Kagzi.builder().channel(..)}. */
  private static final String OF_CHANNEL = "x-tenant";

  private static final String DEADLINE = "grpc-timeout";

  /** Streams that stay open as long as the worker or the client. */
  private static final Set<String> WITHOUT_DEADLINE =
      Set.of("kagzi.v1.WorkerService/Attach", "kagzi.v1.WorkflowService/WatchWorkflows");

  private static final List<ServiceDescriptor> SERVICES =
      List.of(
          WorkflowServiceGrpc.getServiceDescriptor(),
          WorkerServiceGrpc.getServiceDescriptor(),
          WorkflowScheduleServiceGrpc.getServiceDescriptor(),
          NamespaceServiceGrpc.getServiceDescriptor(),
          AdminServiceGrpc.getServiceDescriptor());

  private static final WorkflowType<String, String> GREET =
      WorkflowType.of("greet", String.class, String.class);
  private static final WorkflowType<String, String> LONG =
      WorkflowType.of("long", String.class, String.class);
  private static final WorkflowType<String, String> FAIL =
      WorkflowType.of("fail", String.class, String.class);

  private static List<Call> calls;

  @BeforeAll
  static void callEveryMethod() {
    try (RealServer server = new RealServer();
        RecordingProxy proxy = new RecordingProxy(server.port())) {
      try (Kagzi kagzi =
          Kagzi.builder()
              .address(proxy.address())
              .grpcInterceptor(adds(OF_CALL))
              .channel(channel -> channel.intercept(adds(OF_CHANNEL)))
              .connect()) {
        runWorkflows(kagzi, proxy);
        callSchedules(kagzi);
        callNamespaces(kagzi.namespaces());
        callAdmin(kagzi.admin());
        kagzi.ping();
      }
      calls = proxy.calls();
    }
  }

  @AfterAll
  static void forget() {
    calls = List.of();
  }

  private static ClientInterceptor adds(String header) {
    Metadata headers = new Metadata();
    headers.put(Metadata.Key.of(header, Metadata.ASCII_STRING_MARSHALLER), "added");
    return MetadataUtils.newAttachHeadersInterceptor(headers);
  }

  private static void runWorkflows(Kagzi kagzi, RecordingProxy proxy) {
    AtomicBoolean fails = new AtomicBoolean(true);
    try (var worker =
        kagzi
            .worker()
            .workflow(GREET, (ctx, name) -> ctx.step("greet", String.class, () -> "hello " + name))
            .workflow(
                LONG,
                (ctx, name) -> {
                  // More than a task can contain: the worker reads it with GetHistory after the
                  // sleep.
                  for (int i = 0; i < 4; i++) {
                    ctx.step("big", String.class, () -> "x".repeat(1_800_000));
                  }
                  ctx.sleep("pause", Duration.ofMillis(1_100));
                  return "done";
                })
            .workflow(
                FAIL,
                (ctx, name) -> {
                  if (fails.get()) {
                    throw new IllegalStateException("not yet");
                  }
                  return "done";
                })
            .start()) {
      RunHandle<String> run = kagzi.workflow(GREET).id("first").start("Ada");
      assertThat(run.result(SOON)).isEqualTo("hello Ada");
      assertThat(kagzi.workflow(GREET).startAll(List.of("a", "b"))).hasSize(2);
      assertThat(kagzi.get(run.runId()).runId()).isEqualTo(run.runId());
      assertThat(kagzi.getByWorkflowId("first").runId()).isEqualTo(run.runId());
      assertThat(run.history().run().output(String.class)).contains("hello Ada");
      assertThat(run.explain().causes().getFirst().code()).isEqualTo("ENDED");
      assertThat(kagzi.list().stream().count()).isEqualTo(3);
      assertThat(run.cancel()).isFalse();
      assertThat(run.terminate("enough")).isFalse();
      Signal<String> word = Signal.of("word", String.class);
      RunHandle<String> signalled =
          kagzi.workflow(GREET).id("signalled").signalOrStart(word, "x", "id-1", "Ada");
      signalled.signal(word, "x", "id-1");
      assertThat(signalled.signals()).hasSize(1);
      assertThat(signalled.published()).isEmpty();
      assertThatExceptionOfType(RequestRefusedException.class)
          .isThrownBy(() -> signalled.completeCallback("payment", 1));
      kagzi.setDefaultVersion(GREET.version("2"));

      RunHandle<String> failed = kagzi.workflow(FAIL).retry(Retry.none()).start("Ada");
      assertThatExceptionOfType(RunFailedException.class).isThrownBy(() -> failed.result(SOON));
      fails.set(false);
      assertThat(failed.retry().result(SOON)).isEqualTo("done");
      assertThat(failed.resume()).isTrue();
      assertThat(failed.result(SOON)).isEqualTo("done");

      assertThat(kagzi.workflow(LONG).start("Ada").result(SOON)).isEqualTo("done");
      Awaitility.await()
          .atMost(SOON)
          .until(() -> methods(proxy.calls()).contains("kagzi.v1.WorkerService/Heartbeat"));
      assertThat(worker).isNotNull();
    }
  }

  private static void callSchedules(Kagzi kagzi) {
    Schedule schedule = kagzi.schedule("yearly");
    schedule.workflow(GREET).cron("@yearly").input("Ada").create();
    schedule.get();
    schedule.change().cron("@monthly").save();
    schedule.pause();
    schedule.resume();
    schedule.trigger();
    schedule.backfill(Instant.EPOCH, Instant.EPOCH.plusSeconds(60));
    assertThat(kagzi.schedules().stream()).hasSize(1);
    assertThat(kagzi.schedules().next("@daily", "UTC", 1)).hasSize(1);
    schedule.delete();
  }

  private static void callNamespaces(Namespaces namespaces) {
    namespaces.create("tenant");
    namespaces.get("tenant");
    namespaces.describe("tenant", "Tenant", "");
    namespaces.disable("tenant");
    namespaces.enable("tenant");
    assertThat(namespaces.list()).isNotEmpty();
  }

  private static void callAdmin(Admin admin) {
    String left = admin.workers().findFirst().orElseThrow().workerId();
    assertThat(admin.workerEvents(left)).isNotEmpty();
    assertThat(admin.drainWorker(left)).isFalse();
    assertThatExceptionOfType(RequestRefusedException.class)
        .isThrownBy(() -> admin.forceWorkerOffline(left, "it has left"));
    assertThat(admin.stats().runs()).isPositive();
    assertThat(admin.queues().toList()).isNotNull();
    assertThat(admin.queueDepth().pendingRuns()).isNotNegative();
    assertThat(admin.queueDepth("nobody").pendingRuns()).isZero();
  }

  private static Set<String> methods(List<Call> calls) {
    return calls.stream().map(Call::method).collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void every_method_that_the_sdk_calls_has_been_called() {
    assertThat(methods(calls)).isEqualTo(methodsOfTheSdk());
  }

  @Test
  void headers_of_an_interceptor_for_calls_arrive_with_every_call() {
    assertThat(methods(without(OF_CALL))).isEmpty();
  }

  @Test
  void headers_of_an_interceptor_of_the_channel_arrive_with_every_call() {
    assertThat(methods(without(OF_CHANNEL))).isEmpty();
  }

  @Test
  void every_call_has_a_deadline_except_streams_that_stay_open() {
    assertThat(methods(without(DEADLINE))).isEqualTo(WITHOUT_DEADLINE);
  }

  private static List<Call> without(String header) {
    return calls.stream().filter(call -> call.header(header) == null).toList();
  }

  /** The methods of the protocol whose descriptor or stub occurs in the code of the SDK. */
  private static Set<String> methodsOfTheSdk() {
    Set<String> used =
        new ClassFileImporter()
            .withImportOption(new DoNotIncludeTests()).importPackages("dev.kagzi.sdk").stream()
                .flatMap(HeadersTest::used)
                .collect(Collectors.toSet());
    return SERVICES.stream()
        .flatMap(service -> service.getMethods().stream())
        .filter(method -> isUsed(used, method))
        .map(MethodDescriptor::getFullMethodName)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Stream<String> used(JavaClass type) {
    return Stream.concat(
            type.getMethodCallsFromSelf().stream(), type.getMethodReferencesFromSelf().stream())
        .map(call -> call.getTargetOwner().getSimpleName() + "." + call.getTarget().getName());
  }

  private static boolean isUsed(Set<String> used, MethodDescriptor<?, ?> method) {
    String service = String.valueOf(method.getServiceName()).replace("kagzi.v1.", "");
    String name = String.valueOf(method.getBareMethodName());
    String ofStub = name.substring(0, 1).toLowerCase(Locale.ROOT) + name.substring(1);
    return used.contains(service + "Grpc.get" + name + "Method")
        || used.contains(service + "Stub." + ofStub);
  }
}
