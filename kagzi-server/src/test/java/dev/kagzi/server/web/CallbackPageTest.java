package dev.kagzi.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.AnswerCallbackRequest;
import dev.kagzi.protocol.v1.CallbackFailure;
import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportItem.CallbackStarted;
import dev.kagzi.protocol.v1.ReportRequest;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.server.TestServer;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the pages of a run show of callbacks that its code does not await, and of waits. */
@SuppressWarnings("NullAway.Init")
class CallbackPageTest {
  private static final String TYPE = "order";

  private static TestServer server;
  private static TestBrowser browser;

  @BeforeAll
  static void start() {
    server =
        TestServer.start(
            TestServer.createDatabase(), config -> config.localCallbacks("a key of the test"));
    browser = new TestBrowser(server);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String runWithCallbacks(String... steps) {
    Stream<ReportItem.Builder> items =
        Stream.of(steps)
            .map(step -> CallbackStarted.newBuilder().setStepKey(step))
            .map(started -> ReportItem.newBuilder().setCallback(started));
    return reportedRun("callbacks of " + String.join(" ", steps), items.toList());
  }

  /**
   * @param queue of its own: no worker of another test gets this run, also if its claim ends
   */
  private static String reportedRun(String queue, List<ReportItem.Builder> items) {
    String run = server.startRun(queue, TYPE);
    TypeVersion served = TypeVersion.newBuilder().setWorkflowType(TYPE).build();
    String worker =
        server
            .workers()
            .register(
                RegisterRequest.newBuilder()
                    .setTaskQueue(queue)
                    .addWorkflowTypes(TYPE)
                    .addServed(served)
                    .build())
            .getWorkerId();
    Task task =
        server
            .workers()
            .pollTasks(
                PollTasksRequest.newBuilder()
                    .setWorkerId(worker)
                    .setTaskQueue(queue)
                    .addTypes(served)
                    .setMaxTasks(1)
                    .build())
            .getTasks(0);
    ReportRequest.Builder report = ReportRequest.newBuilder().setWorkerId(worker);
    items.forEach(
        item -> report.addItems(item.setRunId(task.getRunId()).setEpoch(task.getEpoch())));
    assertThat(server.workers().report(report.build()).getResultsList())
        .allMatch(result -> result.hasAlreadyRecorded() || result.hasReceived());
    return run;
  }

  private static AnswerCallbackRequest.Builder answer(String run, String step) {
    return AnswerCallbackRequest.newBuilder().setRunId(run).setStepKey(step);
  }

  @Test
  void a_callback_shows_its_answer_although_no_step_awaits_it() throws Exception {
    String run = runWithCallbacks("payment", "parcel", "review", "survey");
    assertThat(browser.load("/runs/" + run).body())
        .contains(">not answered<")
        .doesNotContainPattern("answered\\s+<time");

    server
        .workflows()
        .answerCallback(
            answer(run, "payment").setPayload(TestServer.payload("{\"paid\":42}")).build());
    server
        .workflows()
        .answerCallback(
            answer(run, "parcel")
                .setFailure(CallbackFailure.newBuilder().setMessage("<lost>").setType("Mail"))
                .build());
    server
        .workflows()
        .answerCallback(
            answer(run, "review")
                .setPayload(TestServer.payload("\"" + "x".repeat(20_000) + "\""))
                .build());

    String page = browser.load("/runs/" + run).body();
    assertThat(page)
        .containsPattern("<p>answered\\s+<time")
        .containsPattern("<p>answered as failed\\s+<time")
        .contains("{&#34;paid&#34;:42}", "Mail: &lt;lost", ">not answered<")
        .contains("Show the whole Answer")
        .doesNotContain("xxxxxxxxxx");
    assertThat(step(run, "review")).contains("xxxxxxxxxx");
    assertThat(step(run, "parcel")).contains("Mail: &lt;lost");
    assertThat(step(run, "survey")).contains("not yet");
    assertThat(browser.load(payload(run, "payment")).body()).isEqualTo("{\"paid\":42}");
    assertThat(browser.load(payload(run, "parcel")).statusCode()).isEqualTo(404);
    assertThat(browser.load(payload(run, "survey")).statusCode()).isEqualTo(404);
  }

  @Test
  void a_callback_without_an_answer_is_open_and_has_no_output() throws Exception {
    String run = runWithCallbacks("payment");

    assertThat(browser.load("/runs/" + run).body())
        .contains("<span class=\"status sleeping\">open</span>")
        .contains("href=\"/runs/" + run + "/callback?key=payment\">Answer the callback</a>")
        .doesNotContain("Show the whole Output");
  }

  @Test
  void a_wait_that_timed_out_is_not_shown_as_completed() throws Exception {
    ReportItem.Builder wait = ReportItem.newBuilder();
    wait.getReceiveBuilder().setStepKey("approval").setSignalName("approval").setTimeoutMs(0);
    String run = reportedRun("waits", List.of(wait));

    assertThat(browser.load("/runs/" + run).body())
        .containsPattern("<span class=\"status timed-out\"[^>]*>timed out</span>")
        .doesNotContain(">completed<");
  }

  @Test
  void a_callback_is_answered_from_a_form_once() throws Exception {
    String run = runWithCallbacks("payment", "parcel");
    String form = "/runs/" + run + "/callback?key=payment";
    String path = "/runs/" + run + "/callback";
    assertThat(browser.load(form).body()).contains("Answer the callback");

    assertThat(browser.send("/runs/" + run, path, "key", "payment", "payload", "{").statusCode())
        .isEqualTo(400);
    assertThat(browser.send("/runs/" + run, path, "key", "other", "payload", "1").statusCode())
        .isEqualTo(400);
    assertThat(browser.send("/runs/" + run, path, "key", "payment", "payload", "[7]").statusCode())
        .isEqualTo(303);
    browser.send("/runs/" + run, path, "key", "payment", "payload", "[8]");
    browser.send("/runs/" + run, path, "key", "parcel", "payload", "[9]", "failure", "<lost>");

    assertThat(browser.load("/runs/" + run).body())
        .contains("[7]", "&lt;lost")
        .doesNotContain("[8]", "[9]", ">open<");
    assertThat(browser.load(form).body()).contains("The callback is answered.");
    assertThat(browser.load("/runs/" + run + "/callback?key=none").statusCode()).isEqualTo(404);
  }

  private static String step(String run, String key) throws Exception {
    return browser.load("/runs/" + run + "/step?attempt=1&key=" + key).body();
  }

  private static String payload(String run, String key) {
    return "/runs/" + run + "/payload?of=answer&attempt=1&key=" + key;
  }
}
