package dev.kagzi.sdk.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.Step;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.StepStatus;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.e2e.OtlpCollector.Received;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import io.opentelemetry.proto.trace.v1.Status;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The trace of one run, from its start to its end, as a collector receives it. */
class TraceTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final String QUEUE = "traced";

  @Test
  void a_run_that_was_killed_twice_slept_and_had_two_children_is_one_whole_trace()
      throws Exception {
    try (OtlpCollector collector = new OtlpCollector();
        RealServer server =
            new RealServer(
                EngineConfig.defaults(), config -> config.otlpEndpoint(collector.endpoint()));
        OpenTelemetrySdk telemetry = TracedWorkerProcess.telemetry(collector.endpoint(), "client");
        Kagzi kagzi =
            Kagzi.builder().address(server.address()).openTelemetry(telemetry).connect()) {
      RunHandle<String> run = startWithin("checkout", telemetry, kagzi);
      killAt("pack", server, collector);
      killAt("label", server, collector);
      String result = execute(server, collector, run);

      assertThat(result).isEqualTo("sent lamp 1, sent lamp 2");
      Trace trace = new Trace(server, collector, run.runId());
      await().atMost(SOON).untilAsserted(trace::hasServerSpansOfEveryClaim);
      trace.isOneTrace();
      trace.hasNoMissingParents();
      trace.hasEveryExecutionOnce();
      trace.hasEveryRecordedAttemptOnce();
      trace.hasOneSleepAndTheFailedAttempt();
      trace.hasTheChildrenBelowTheirStarts();
    }
  }

  private static RunHandle<String> startWithin(
      String name, OpenTelemetrySdk telemetry, Kagzi kagzi) {
    Span span = telemetry.getTracer("shop").spanBuilder(name).startSpan();
    Scope scope = span.makeCurrent();
    try {
      return kagzi.workflow(TracedWorkerProcess.orderType(QUEUE)).start("lamp");
    } finally {
      scope.close();
      span.end();
    }
  }

  /** Starts a worker and kills it while it executes this step. */
  private static void killAt(String step, RealServer server, OtlpCollector collector)
      throws Exception {
    int claims = collector.spans("kagzi.claim order").size();
    int steps = collector.spans("kagzi.step").size();
    Process process = startWorker(server, collector, step);
    try {
      awaitLine(process, TracedWorkerProcess.WAITING);
      // The spans that have ended leave the process before it is killed.
      await().atMost(SOON).until(() -> collector.spans("kagzi.claim order").size() == claims + 1);
      await().atMost(SOON).until(() -> collector.spans("kagzi.step").size() == steps + 1);
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  private static String execute(RealServer server, OtlpCollector collector, RunHandle<String> run)
      throws Exception {
    Process process = startWorker(server, collector, "none");
    try {
      Thread.ofPlatform().daemon().start(() -> readAll(process));
      String result = run.result(SOON);
      // The last span ends when the end of the run is answered.
      await()
          .atMost(SOON)
          .until(
              () ->
                  collector.spans("kagzi.run order").stream()
                      .anyMatch(span -> span.text("kagzi.run.outcome").equals("completed")));
      return result;
    } finally {
      process.destroyForcibly().waitFor();
    }
  }

  private static Process startWorker(RealServer server, OtlpCollector collector, String stopAt)
      throws IOException {
    return new ProcessBuilder(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                TracedWorkerProcess.class.getName(),
                server.address(),
                QUEUE,
                collector.endpoint(),
                stopAt))
        .redirectErrorStream(true)
        .start();
  }

  private static void awaitLine(Process process, String expected) throws Exception {
    CountDownLatch seen = new CountDownLatch(1);
    List<String> output = new ArrayList<>();
    Thread.ofPlatform()
        .daemon()
        .start(
            () ->
                lines(process)
                    .forEach(
                        line -> {
                          synchronized (output) {
                            output.add(line);
                          }
                          if (line.equals(expected)) {
                            seen.countDown();
                          }
                        }));
    boolean found = seen.await(SOON.toSeconds(), TimeUnit.SECONDS);
    synchronized (output) {
      assertThat(found).as(String.join("\n", output)).isTrue();
    }
  }

  private static void readAll(Process process) {
    lines(process).forEach(line -> {});
  }

  private static java.util.stream.Stream<String> lines(Process process) {
    return new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8)).lines();
  }

  /** The received spans, compared with what the server has recorded. */
  private static final class Trace {
    private final RealServer server;
    private final OtlpCollector collector;
    private final String parent;
    private final List<Step> steps;
    private final List<String> children;

    Trace(RealServer server, OtlpCollector collector, String parent) {
      this.server = server;
      this.collector = collector;
      this.parent = parent;
      this.steps = server.steps(parent);
      this.children = steps.stream().filter(Step::hasChildRunId).map(Step::getChildRunId).toList();
      assertThat(children).hasSize(2);
    }

    private Workflow run(String id) {
      return server
          .workflows()
          .getWorkflow(GetWorkflowRequest.newBuilder().setNamespace("default").setRunId(id).build())
          .getWorkflow();
    }

    private List<String> runs() {
      List<String> runs = new ArrayList<>(children);
      runs.add(parent);
      return runs;
    }

    private List<Received> of(String run, String name) {
      return collector.spans(name).stream()
          .filter(span -> span.text("kagzi.run.id").equals(run))
          .toList();
    }

    private static Set<Long> epochs(List<Received> spans) {
      return spans.stream().map(span -> span.number("kagzi.run.epoch")).collect(Collectors.toSet());
    }

    private static Set<Long> upTo(int epoch) {
      return IntStream.rangeClosed(1, epoch).mapToObj(Long::valueOf).collect(Collectors.toSet());
    }

    void hasServerSpansOfEveryClaim() {
      assertThat(of(parent, "kagzi.server.start order")).hasSize(1);
      for (String run : runs()) {
        List<Received> dispatched = of(run, "kagzi.server.dispatch");
        assertThat(epochs(dispatched)).isEqualTo(upTo(run(run).getEpoch()));
        assertThat(dispatched).hasSize(run(run).getEpoch());
        assertThat(dispatched).extracting(Received::service).containsOnly("kagzi-server");
      }
    }

    void isOneTrace() {
      assertThat(collector.spans()).extracting(Received::traceId).hasSizeGreaterThan(20);
      assertThat(collector.spans().stream().map(Received::traceId).distinct()).hasSize(1);
      assertThat(collector.spans()).extracting(Received::spanId).doesNotHaveDuplicates();
    }

    void hasNoMissingParents() {
      Set<String> ids =
          collector.spans().stream().map(Received::spanId).collect(Collectors.toSet());
      assertThat(collector.spans().stream().filter(span -> !ids.contains(span.parentId())))
          .extracting(Received::name)
          .containsExactly("checkout");
      assertThat(collector.spans().stream().flatMap(Received::links)).isSubsetOf(ids);
    }

    void hasEveryExecutionOnce() {
      int claims = run(parent).getEpoch();
      // The children may end before the run is suspended for them.
      assertThat(claims).isGreaterThanOrEqualTo(4);
      for (String run : runs()) {
        List<Received> claimed = of(run, "kagzi.claim");
        assertThat(claimed).hasSize(run(run).getEpoch());
        assertThat(epochs(claimed)).isEqualTo(upTo(run(run).getEpoch()));
      }
      Map<Long, String> outcomes = new TreeMap<>();
      of(parent, "kagzi.run order")
          .forEach(
              span ->
                  assertThat(
                          outcomes.put(
                              span.number("kagzi.run.epoch"), span.text("kagzi.run.outcome")))
                      .isNull());
      // Executions 1 and 2 were killed, so they have not ended.
      Map<Long, String> expected = new TreeMap<>();
      for (long epoch = 3; epoch < claims; epoch++) {
        expected.put(epoch, "suspended");
      }
      expected.put((long) claims, "completed");
      assertThat(outcomes).isEqualTo(expected);
    }

    void hasEveryRecordedAttemptOnce() {
      List<String> recorded = new ArrayList<>();
      for (String run : runs()) {
        server.steps(run).stream()
            .filter(step -> step.getKind() == StepKind.STEP_KIND_FUNCTION)
            .forEach(
                step ->
                    recorded.add(run + " " + step.getStepKey() + " " + step.getAttemptNumber()));
      }
      assertThat(recorded).hasSize(7);
      assertThat(collector.spans("kagzi.step"))
          .extracting(
              span ->
                  span.text("kagzi.run.id")
                      + " "
                      + span.text("kagzi.step.key")
                      + " "
                      + span.number("kagzi.step.attempt"))
          .containsExactlyInAnyOrderElementsOf(recorded);
    }

    void hasOneSleepAndTheFailedAttempt() {
      assertThat(collector.spans("kagzi.sleep"))
          .extracting(Received::name)
          .containsExactly("kagzi.sleep cool-off");
      List<Received> failed =
          collector.spans().stream()
              .filter(
                  span -> span.span().getStatus().getCode() == Status.StatusCode.STATUS_CODE_ERROR)
              .toList();
      assertThat(failed).extracting(Received::name).containsExactly("kagzi.step confirm");
      assertThat(failed.get(0).span().getStatus().getMessage()).isEqualTo("mail server is busy");
      assertThat(failed.get(0).span().getEventsList())
          .extracting(event -> event.getName())
          .containsExactly("exception");
      assertThat(
              steps.stream()
                  .filter(step -> step.getStatus() == StepStatus.STEP_STATUS_FAILED)
                  .count())
          .isEqualTo(1);
    }

    void hasTheChildrenBelowTheirStarts() {
      Set<String> claims =
          of(parent, "kagzi.claim").stream().map(Received::spanId).collect(Collectors.toSet());
      List<Received> starts = collector.spans("kagzi.start parcel");
      assertThat(starts).hasSize(2);
      assertThat(starts).allMatch(span -> claims.contains(span.parentId()));
      Set<String> ids = starts.stream().map(Received::spanId).collect(Collectors.toSet());
      assertThat(
              children.stream()
                  .flatMap(child -> of(child, "kagzi.claim").stream())
                  .map(Received::parentId)
                  .collect(Collectors.toSet()))
          .isEqualTo(ids);
    }
  }
}
