package dev.kagzi.engine.internal.run;

import static dev.kagzi.engine.TestEngine.NAMESPACE;
import static dev.kagzi.engine.TestEngine.await;
import static dev.kagzi.engine.TestEngine.done;
import static dev.kagzi.engine.TestEngine.payload;
import static dev.kagzi.engine.TestEngine.stepDone;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.TestEngine;
import dev.kagzi.engine.TestReports;
import dev.kagzi.engine.TestSchedules;
import dev.kagzi.engine.dispatch.Task;
import dev.kagzi.engine.run.StartOptions;
import dev.kagzi.engine.run.StartRequest;
import dev.kagzi.engine.schedule.Overlap;
import dev.kagzi.engine.schedule.ScheduleSpec;
import dev.kagzi.engine.value.Limits;
import dev.kagzi.engine.value.StepKind;
import dev.kagzi.engine.value.WorkerId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** Payloads over payload-bytes-warn are logged on every path. */
class LargePayloadsTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final String LARGE = "\"" + "x".repeat(2_000) + "\"";

  private final Events events = new Events();
  private String queue = "";
  private TestEngine engine;

  /** Log lines of {@link LargePayloads}, with their key-values. */
  private static final class Events extends AppenderBase<ILoggingEvent> {
    final List<String> lines = new CopyOnWriteArrayList<>();

    @Override
    protected void append(ILoggingEvent event) {
      lines.add(
          event.getLevel()
              + " "
              + event.getFormattedMessage()
              + event.getKeyValuePairs().stream()
                  .map(pair -> " " + pair.key + "=" + pair.value)
                  .collect(Collectors.joining()));
    }
  }

  private static Logger log() {
    return (Logger) LoggerFactory.getLogger(LargePayloads.class);
  }

  @BeforeEach
  void open(TestInfo test) {
    Limits d = Limits.DEFAULT;
    queue = test.getTestMethod().orElseThrow().getName();
    engine =
        TestEngine.start(
            database.config(),
            queue,
            EngineConfig.defaults()
                .withLimits(
                    new Limits(
                        1_000,
                        10_000,
                        d.nameLengthMax(),
                        d.externalIdLengthMax(),
                        d.stepKeyLengthMax(),
                        d.stepsPerRunMax(),
                        d.signalsPerRunMax(),
                        d.signalBytesPerRunMax(),
                        d.labelsMax(),
                        d.labelLengthMax(),
                        d.textLengthMax())));
    events.start();
    log().addAppender(events);
  }

  @AfterEach
  void close() {
    log().detachAppender(events);
    engine.close();
  }

  private static String line(String what) {
    return line("", what);
  }

  private static String line(Task of, String what) {
    return line(" run=" + of.claim().runId(), what);
  }

  private static String line(String run, String what) {
    return "WARN payload is larger than payload-bytes-warn"
        + run
        + " type="
        + TestEngine.TYPE
        + " what="
        + what
        + " bytes=2002 warn=1000 max=10000";
  }

  private Task claim() {
    WorkerId worker = engine.register();
    engine.start();
    return engine.claimOne(worker);
  }

  private void start(String type) {
    await(
        engine
            .engine()
            .runs()
            .start(
                new StartRequest(
                    NAMESPACE,
                    "",
                    queue,
                    type,
                    "",
                    payload(LARGE),
                    null,
                    null,
                    StartOptions.NONE)));
  }

  @Test
  void a_large_input_is_logged_once_per_type() {
    start(TestEngine.TYPE);
    start(TestEngine.TYPE);
    start("another");

    assertThat(events.lines)
        .containsExactly(line("input"), line("input").replace("=" + TestEngine.TYPE, "=another"));
  }

  @Test
  void the_output_of_a_step_is_logged() {
    Task task = claim();

    engine.report(stepDone(task.claim(), "pay", LARGE));

    assertThat(events.lines).containsExactly(line(task, "output of step pay"));
  }

  @Test
  void the_input_of_a_step_is_logged() {
    Task task = claim();

    engine.report(
        TestReports.done(
            task.claim(), "pay", 1, StepKind.FUNCTION, payload(LARGE), payload("1"), 1));

    assertThat(events.lines).containsExactly(line(task, "input of step pay"));
  }

  @Test
  void the_output_of_a_run_is_logged() {
    Task task = claim();

    engine.report(done(task.claim(), LARGE));

    assertThat(events.lines).containsExactly(line(task, "output"));
  }

  @Test
  void the_output_of_a_last_step_that_is_reported_with_the_completion_is_logged() {
    Task task = claim();

    engine.report(List.of(stepDone(task.claim(), "pay", LARGE), done(task.claim(), "1")));

    assertThat(events.lines).containsExactly(line(task, "output of step pay"));
  }

  @Test
  void the_input_of_a_schedule_is_logged() {
    engine
        .engine()
        .schedules()
        .create(
            TestSchedules.creation(
                NAMESPACE,
                new ScheduleSpec(
                    "",
                    queue,
                    TestEngine.TYPE,
                    "",
                    "0 9 * * *",
                    "UTC",
                    payload(LARGE),
                    Overlap.ALLOW,
                    1,
                    0,
                    null,
                    null,
                    null,
                    "",
                    "")));

    assertThat(events.lines).containsExactly(line("input of a schedule"));
  }

  @Test
  void small_payloads_are_not_logged() {
    Task task = claim();

    engine.report(List.of(stepDone(task.claim(), "pay", "1"), done(task.claim(), "1")));

    assertThat(events.lines).isEmpty();
  }

  @Test
  void the_line_about_a_start_has_the_trace_that_its_headers_name() {
    Map<String, String> headers =
        Map.of("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");

    await(
        engine
            .engine()
            .runs()
            .start(
                new StartRequest(
                    NAMESPACE,
                    "",
                    queue,
                    "traced",
                    "",
                    payload(LARGE),
                    null,
                    null,
                    StartOptions.NONE.withHeaders(headers))));

    assertThat(events.lines)
        .singleElement()
        .asString()
        .contains(" trace_id=0af7651916cd43dd8448eb211c80319c ");
    assertThat(TraceLog.traceId(Map.of("traceparent", "00-0af7-b7ad-01"))).isNull();
    assertThat(TraceLog.traceId(Map.of())).isNull();
  }
}
