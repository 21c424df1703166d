package dev.kagzi.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportItem.ValuesPublished;
import dev.kagzi.protocol.v1.ReportItem.ValuesPublished.NewValue;
import dev.kagzi.protocol.v1.ReportRequest;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.server.TestServer;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the page of a run shows of its published values. */
@SuppressWarnings("NullAway.Init")
class PublishedPageTest {
  private static final String QUEUE = "published";
  private static final String TYPE = "order";

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

  private static void publish(NewValue... values) {
    TypeVersion served = TypeVersion.newBuilder().setWorkflowType(TYPE).build();
    String worker =
        server
            .workers()
            .register(
                RegisterRequest.newBuilder()
                    .setTaskQueue(QUEUE)
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
                    .setTaskQueue(QUEUE)
                    .addTypes(served)
                    .setMaxTasks(1)
                    .build())
            .getTasks(0);
    ReportItem.Builder item =
        ReportItem.newBuilder()
            .setRunId(task.getRunId())
            .setEpoch(task.getEpoch())
            .setValuesPublished(ValuesPublished.newBuilder().addAllValues(List.of(values)));
    assertThat(
            server
                .workers()
                .report(ReportRequest.newBuilder().setWorkerId(worker).addItems(item).build())
                .getResults(0)
                .hasAccepted())
        .isTrue();
  }

  private static NewValue value(String name, int order, String json) {
    return NewValue.newBuilder()
        .setName(name)
        .setSequence(1)
        .setOrder(order)
        .setValue(TestServer.payload(json))
        .build();
  }

  @Test
  void the_page_shows_each_value_and_links_to_large_ones() throws Exception {
    String run = server.startRun(QUEUE, TYPE);
    assertThat(browser.load("/runs/" + run).body()).doesNotContain(">Published<");

    publish(
        value("progress", 1, "{\"done\":3}"),
        value("<b>", 2, "\"<i>\""),
        value("text", 3, "\"" + "x".repeat(20_000) + "\""));

    String page = browser.load("/runs/" + run).body();
    assertThat(page)
        .contains(">Published<", "{&#34;done&#34;:3}", "&lt;b>")
        .contains("Show the whole text")
        .doesNotContain("xxxxxxxxxx")
        .doesNotContain("<b>");
    assertThat(browser.load("/runs/" + run + "/payloads").body()).contains("xxxxxxxxxx");
    assertThat(browser.load("/runs/" + run + "/payload?of=published&name=progress").body())
        .isEqualTo("{\"done\":3}");
    assertThat(browser.load("/runs/" + run + "/payload?of=published&name=other").statusCode())
        .isEqualTo(404);
  }
}
