package dev.kagzi.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.ListSignalsRequest;
import dev.kagzi.protocol.v1.Payload;
import dev.kagzi.protocol.v1.RetryPolicy;
import dev.kagzi.protocol.v1.StartWorkflowRequest;
import dev.kagzi.protocol.v1.Workflow;
import dev.kagzi.server.TestServer;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Forms that are refused, sent twice, or sent with values that their pages would not send. */
@SuppressWarnings("NullAway.Init")
class DashboardFormsTest {
  private static TestServer server;
  private static TestBrowser browser;

  @BeforeAll
  static void start() {
    server = TestServer.start();
    browser = new TestBrowser(server);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static HttpResponse<String> startRun(String... changes) throws Exception {
    String[] fields = {
      "submission", RunId.next().toString(),
      "workflow_type", "order",
      "task_queue", "orders",
      "if_exists", "REJECT",
      "execution_timeout", "",
      "input", "{}",
      "from", "",
      "same_input", "",
      "external_id", ""
    };
    return browser.send("/start", "/start", changed(fields, changes));
  }

  private static String[] changed(String[] fields, String... changes) {
    String[] sent = fields.clone();
    for (int i = 0; i < changes.length; i += 2) {
      for (int j = 0; j < sent.length; j += 2) {
        if (sent[j].equals(changes[i])) {
          sent[j + 1] = changes[i + 1];
        }
      }
    }
    return sent;
  }

  private static Workflow run(HttpResponse<String> started) {
    String location = TestBrowser.location(started);
    String id = location.substring(location.lastIndexOf('/') + 1);
    return server
        .workflows()
        .getWorkflow(GetWorkflowRequest.newBuilder().setRunId(id).build())
        .getWorkflow();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "workflow_type||f-workflow_type|empty (expected: 1 to 200 characters)",
        "task_queue||f-task_queue|empty (expected: 1 to 200 characters)",
        "execution_timeout|soon|f-execution_timeout|soon (expected: such as 500ms",
        "execution_timeout|0s|f-execution_timeout|0 ms (expected: 1 to",
        "input|{} {}|f-input|not JSON",
        "input|{\"a\":|f-input|not JSON at line 1",
        "workflow_type|__kagzi_failure_handler|f-workflow_type|expected",
        "if_exists|MAYBE|f-workflow_type|if exists: MAYBE"
      })
  void a_refused_start_says_what_is_wrong_and_keeps_the_other_values(
      String field, String value, String shown, String message) throws Exception {
    HttpResponse<String> refused = startRun(field, value == null ? "" : value);

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body())
        .contains("Not started.")
        .contains(message.replace("\"", "&#34;"))
        .contains("id=\"" + shown + "\"")
        .contains(field.equals("task_queue") ? "value=\"order\"" : "value=\"orders\"");
  }

  @Test
  void a_form_that_is_sent_twice_starts_one_run_and_a_changed_one_another() throws Exception {
    String submission = RunId.next().toString();

    String first = TestBrowser.location(startRun("submission", submission));
    String again = TestBrowser.location(startRun("submission", submission));
    String changed = TestBrowser.location(startRun("submission", submission, "input", "1"));
    String named = TestBrowser.location(startRun("submission", submission, "external_id", "7"));

    assertThat(again).isEqualTo(first).contains("/runs/");
    assertThat(List.of(changed, named)).doesNotHaveDuplicates().doesNotContain(first);
  }

  @Test
  void an_external_id_of_an_open_run_is_refused_at_the_form() throws Exception {
    startRun("external_id", "order-1");

    HttpResponse<String> refused = startRun("external_id", "order-1");

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("Not started.").contains("value=\"order-1\"");
  }

  @Test
  void a_similar_run_keeps_bytes_that_are_not_json_and_the_retry_policy() throws Exception {
    byte[] bytes = {(byte) 0xff, 0, 7};
    String like =
        server
            .workflows()
            .startWorkflow(
                StartWorkflowRequest.newBuilder()
                    .setTaskQueue("orders")
                    .setWorkflowType("order")
                    .setVersion("v7")
                    .setRetryPolicy(RetryPolicy.newBuilder().setMaximumAttempts(4))
                    .putHeaders("tenant", "acme")
                    .setInput(
                        Payload.newBuilder()
                            .setData(ByteString.copyFrom(bytes))
                            .putMetadata("kagzi-key-id", "k1"))
                    .build())
            .getRunId();

    HttpResponse<String> form = browser.load("/start?from=" + like);
    Workflow similar =
        run(startRun("from", like, "same_input", "true", "input", "", "workflow_type", "order"));

    assertThat(form.body()).contains("value=\"v7\"").contains("cannot be shown here");
    assertThat(similar.getInput().getData().toByteArray()).isEqualTo(bytes);
    assertThat(similar.getInput().getMetadataMap()).containsEntry("kagzi-key-id", "k1");
    assertThat(similar.getRetryPolicy().getMaximumAttempts()).isEqualTo(4);
    assertThat(similar.getHeadersMap()).containsEntry("tenant", "acme");
  }

  private static HttpResponse<String> createSchedule(String... changes) throws Exception {
    String[] fields = {
      "name", "daily",
      "workflow_type", "report",
      "task_queue", "reports",
      "cron_expr", "0 9 * * *",
      "time_zone", "Europe/Berlin",
      "overlap_policy", "SKIP",
      "max_catchup", "5",
      "jitter", "",
      "maximum_attempts", "",
      "initial_interval", "",
      "maximum_interval", "",
      "on_failure_task_queue", "",
      "input", ""
    };
    return browser.send("/schedules/new", "/schedules/new", changed(fields, changes));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "name||empty (expected: a name that no other schedule has)",
        "cron_expr|0 9 * *|has 4 fields (expected: 5 (minute hour",
        "cron_expr|0 0 30 2 *|never fires again",
        "time_zone|Mars/Olympus|(expected: a time zone of the IANA database",
        "overlap_policy|PERHAPS|overlap policy: PERHAPS",
        "max_catchup|many|many (expected: a number)",
        "max_catchup|-1|-1 (expected: 0 to",
        "jitter|100d|(expected: 0 to",
        "maximum_attempts|0|0 (expected: &gt;= 1, or -1 for no limit)",
        "initial_interval|5s|maximum attempts: empty (expected: a number if there is a delay)",
        "on_failure_task_queue|q|without on_failure_workflow"
      })
  void a_refused_schedule_says_what_is_wrong(String field, String value, String message)
      throws Exception {
    HttpResponse<String> refused = createSchedule(field, value == null ? "" : value);

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("Not saved.").contains(message).contains("reports");
  }

  @Test
  void a_schedule_that_is_sent_twice_exists_once_and_its_name_is_taken_for_others()
      throws Exception {
    String first = TestBrowser.location(createSchedule("name", "twice"));
    String again = TestBrowser.location(createSchedule("name", "twice"));
    HttpResponse<String> other = createSchedule("name", "twice", "cron_expr", "0 10 * * *");

    assertThat(again).isEqualTo(first).contains("/schedules/");
    assertThat(other.statusCode()).isEqualTo(400);
    assertThat(other.body()).contains("twice is taken by the schedule").contains("0 10 * * *");
  }

  @Test
  void a_back_fill_of_the_future_or_of_nothing_is_refused() throws Exception {
    String schedule = TestBrowser.location(createSchedule("name", "filled"));

    assertThat(
            browser.load(schedule + "/backfill?from=2026-01-02T00:00&to=2026-01-01T00:00").body())
        .contains("from: 2026-01-02T00:00 (expected: before 2026-01-01T00:00)");
    assertThat(
            browser.load(schedule + "/backfill?from=2026-01-02T00:00&to=2199-01-01T00:00").body())
        .contains("a time that is over");
    assertThat(
            browser.load(schedule + "/backfill?from=2026-01-02T10:00&to=2026-01-02T10:01").body())
        .contains("The schedule has no slot between these times.");
    HttpResponse<String> forged =
        browser.send(
            schedule,
            schedule + "/backfill",
            "from",
            "now",
            "to",
            "2026-01-02T10:00",
            "request_id",
            RunId.next().toString());
    assertThat(forged.statusCode()).isEqualTo(400);
    assertThat(forged.body()).contains("a time in UTC such as");
  }

  @Test
  void an_action_on_a_schedule_that_is_gone_says_so() throws Exception {
    String gone = "/schedules/" + RunId.next();

    HttpResponse<String> paused = browser.send("/namespaces/new", gone + "/pause");
    HttpResponse<String> deleted = browser.send("/namespaces/new", gone + "/delete");

    assertThat(TestBrowser.location(paused)).endsWith(gone);
    assertThat(browser.load(gone).statusCode()).isEqualTo(404);
    assertThat(browser.load(gone).body()).contains("schedule not found");
    assertThat(TestBrowser.location(deleted)).endsWith("/schedules");
  }

  @Test
  void a_default_version_needs_a_name_unless_none_is_chosen() throws Exception {
    HttpResponse<String> refused =
        browser.send("/start", "/types/default", "type", "order", "version", "");
    HttpResponse<String> none =
        browser.send("/start", "/types/default", "type", "order", "version", "", "none", "true");

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("Not changed.").contains("Type order");
    assertThat(none.statusCode()).isEqualTo(303);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "name||empty (expected: 1 to 200 characters)",
        "name|default|exists with another display name",
        "retention|a while|a while (expected: such as",
        "retention|0s|0s (expected: a time such as 30d, or forever)"
      })
  void a_refused_namespace_says_what_is_wrong(String field, String value, String message)
      throws Exception {
    String[] fields = {"name", "team", "display_name", "Team", "description", "", "retention", ""};

    HttpResponse<String> refused =
        browser.send(
            "/namespaces/new",
            "/namespaces/new",
            changed(fields, field, value == null ? "" : value));

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("Not saved.").contains(message).contains("value=\"Team\"");
  }

  @Test
  void pages_of_another_namespace_keep_it_in_links_and_forms() throws Exception {
    browser.send("/namespaces/new", "/namespaces/new", "name", "a&b \"c\"");
    String query = "?namespace=" + TestBrowser.encoded("a&b \"c\"");

    for (String page :
        List.of("/start", "/schedules/new", "/schedules", "/workers", "/types", "/queues")) {
      HttpResponse<String> shown = browser.load(page + query);

      assertThat(shown.statusCode()).as(page).isEqualTo(200);
      assertThat(shown.body())
          .as(page)
          .contains("/schedules?namespace=a%26b+%22c%22")
          .doesNotContain("a&b \"c\"");
    }
    HttpResponse<String> started =
        browser.send(
            "/start" + query,
            "/start",
            "namespace",
            "a&b \"c\"",
            "submission",
            RunId.next().toString(),
            "workflow_type",
            "order",
            "task_queue",
            "orders",
            "if_exists",
            "REJECT");
    assertThat(TestBrowser.location(started)).contains("/runs/").endsWith(query);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/start?from=7",
        "/schedules/7",
        "/workers/7",
        "/workers?status=SICK",
        "/runs?worker=%3Cb%3E7",
        "/schedules?state=odd",
        "/queues/queue",
        "/types/type",
        "/schedules?page=odd"
      })
  void a_strange_url_is_refused_with_a_message(String path) throws Exception {
    HttpResponse<String> refused = browser.load(path);

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("That did not work").contains("(expected: ");
  }

  @Test
  void a_signal_that_is_sent_twice_is_stored_once() throws Exception {
    String run = server.startRun("nobody", "order");
    String page = "/runs/" + run + "/signals";

    for (int i = 0; i < 2; i++) {
      HttpResponse<String> sent =
          browser.send(page, page, "name", "approval", "payload", "{}", "signal_id", "click");
      assertThat(TestBrowser.location(sent)).endsWith("/runs/" + run);
    }

    assertThat(
            server
                .workflows()
                .listSignals(ListSignalsRequest.newBuilder().setRunId(run).build())
                .getSignalsList())
        .singleElement()
        .satisfies(signal -> assertThat(signal.getName()).isEqualTo("approval"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "name||empty (expected: 1 to 200 characters)",
        "payload|{|not JSON at line 1",
        "signal_id||signal id: "
      })
  void a_refused_signal_says_what_is_wrong(String field, String value, String message)
      throws Exception {
    String page = "/runs/" + server.startRun("nobody", "order") + "/signals";
    String[] fields = {"name", "approval", "payload", "1", "signal_id", "click"};

    HttpResponse<String> refused =
        browser.send(page, page, changed(fields, field, value == null ? "" : value));

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("Not sent.").contains(message);
  }

  @Test
  void a_run_that_has_ended_refuses_a_signal() throws Exception {
    String run = server.startRun("nobody", "order");
    browser.send("/runs/" + run, "/runs/" + run + "/cancel");
    String page = "/runs/" + run + "/signals";

    HttpResponse<String> refused =
        browser.send("/start", page, "name", "approval", "payload", "1", "signal_id", "late");

    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("Not sent.").contains("ended");
  }
}
