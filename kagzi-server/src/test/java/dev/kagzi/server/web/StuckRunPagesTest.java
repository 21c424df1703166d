package dev.kagzi.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.protocol.v1.CreateNamespaceRequest;
import dev.kagzi.protocol.v1.DisableNamespaceRequest;
import dev.kagzi.protocol.v1.ErrorDetail;
import dev.kagzi.protocol.v1.ForceOfflineWorkerRequest;
import dev.kagzi.protocol.v1.PollTasksRequest;
import dev.kagzi.protocol.v1.RegisterRequest;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportItem.ChildStarted;
import dev.kagzi.protocol.v1.ReportItem.Released;
import dev.kagzi.protocol.v1.ReportItem.SleepStarted;
import dev.kagzi.protocol.v1.ReportItem.StepStarted;
import dev.kagzi.protocol.v1.ReportRequest;
import dev.kagzi.protocol.v1.StepKind;
import dev.kagzi.protocol.v1.Task;
import dev.kagzi.protocol.v1.TypeVersion;
import dev.kagzi.server.TestServer;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the pages say of runs that do not continue. */
@SuppressWarnings("NullAway.Init")
class StuckRunPagesTest {
  private static final String TYPE = "order";
  private static final Duration SOON = Duration.ofSeconds(60);

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

  /** A run that a worker has, which reports for it. */
  private record Held(String namespace, String worker, Task task) {
    static Held claim(String namespace, String queue) {
      TypeVersion served = TypeVersion.newBuilder().setWorkflowType(TYPE).build();
      String worker =
          server
              .workers()
              .register(
                  RegisterRequest.newBuilder()
                      .setNamespace(namespace)
                      .setTaskQueue(queue)
                      .addWorkflowTypes(TYPE)
                      .addServed(served)
                      .build())
              .getWorkerId();
      PollTasksRequest poll =
          PollTasksRequest.newBuilder()
              .setNamespace(namespace)
              .setWorkerId(worker)
              .setTaskQueue(queue)
              .addTypes(served)
              .setMaxTasks(1)
              .build();
      List<Task> tasks =
          Awaitility.await()
              .atMost(SOON)
              .until(() -> server.workers().pollTasks(poll).getTasksList(), all -> !all.isEmpty());
      return new Held(namespace, worker, tasks.getFirst());
    }

    void report(ReportItem.Builder item) {
      ReportRequest request =
          ReportRequest.newBuilder()
              .setNamespace(namespace)
              .setWorkerId(worker)
              .addItems(item.setRunId(task.getRunId()).setEpoch(task.getEpoch()))
              .build();
      assertThat(server.workers().report(request).getResultsList())
          .noneMatch(result -> result.hasRefused());
    }

    void loseWorker() {
      server
          .admin()
          .forceOfflineWorker(
              ForceOfflineWorkerRequest.newBuilder().setWorkerId(worker).setReason("test").build());
    }
  }

  private static String body(String path) throws Exception {
    return browser.load(path).body();
  }

  private static void await(String path, String text) {
    Awaitility.await().atMost(SOON).until(() -> body(path).contains(text));
  }

  @Test
  void a_step_of_a_lost_worker_is_interrupted() throws Exception {
    String run = server.startRun("videos", TYPE);
    Held held = Held.claim("default", "videos");
    held.report(
        ReportItem.newBuilder()
            .setStepStarted(
                StepStarted.newBuilder()
                    .setStepKey("transcode")
                    .setAttempt(1)
                    .setKind(StepKind.STEP_KIND_FUNCTION)
                    .setRunningUs(1_000)));
    assertThat(body("/runs/" + run)).contains("<span class=\"status running\">running</span>");

    held.loseWorker();

    await("/runs/" + run, ">interrupted</span>");
    assertThat(body("/runs/" + run)).doesNotContain("status running");
    assertThat(body("/runs/" + run + "/step?key=transcode&attempt=1"))
        .contains(">interrupted</span>")
        .doesNotContain("status running");
  }

  @Test
  void runs_that_lose_their_workers_again_and_again_need_attention() {
    String run = server.startRun("crashes", TYPE);
    Held.claim("default", "crashes").loseWorker();
    Held.claim("default", "crashes").loseWorker();

    await("/", "1 run has lost 2 workers in a row.");
    await("/", "<a href=\"/runs/" + run + "\">1 run has lost");
  }

  @Test
  void a_due_run_of_a_disabled_namespace_says_since_when_and_what_to_do() throws Exception {
    String namespace = "shop-eu";
    server
        .namespaces()
        .createNamespace(
            CreateNamespaceRequest.newBuilder()
                .setNamespace(namespace)
                .setDisplayName("Shop")
                .build());
    String run =
        server
            .workflows()
            .startWorkflow(TestServer.start("orders", TYPE).setNamespace(namespace).build())
            .getRunId();
    Held.claim(namespace, "orders")
        .report(
            ReportItem.newBuilder()
                .setSleep(SleepStarted.newBuilder().setStepKey("nap").setDurationMs(2_000)));
    server
        .namespaces()
        .disableNamespace(DisableNamespaceRequest.newBuilder().setNamespace(namespace).build());
    String page = "/runs/" + run + "?namespace=" + namespace;

    await(page, "<dt>Due since</dt>");
    assertThat(body(page))
        .contains("<span class=\"status blocked\">namespace disabled</span>")
        .contains("href=\"/namespaces/edit?namespace=shop-eu&amp;name=shop-eu\">namespace shop-eu")
        .doesNotContain("<dt>Continues</dt>");
    await("/?namespace=" + namespace, "1 run has been due for");
    assertThat(body("/?namespace=" + namespace))
        .contains("they are handed out when the namespace is enabled")
        .doesNotContain("Runs that a worker could take now", "Nothing else");
    assertThat(body("/"))
        .contains("Namespace shop-eu is disabled, and 1 run is due in it")
        .contains("shop-eu <span class=\"status blocked\">disabled</span>");
  }

  @Test
  void a_blocked_run_tries_again_and_shows_its_message_once_unfolded() throws Exception {
    String run = server.startRun("blocked", TYPE);
    Held.claim("default", "blocked")
        .report(
            ReportItem.newBuilder()
                .setReleased(
                    Released.newBuilder()
                        .setDelayMs(600_000)
                        .setBlockedBy(ErrorDetail.newBuilder().setMessage("step moved"))));

    assertThat(body("/runs/" + run))
        .contains("<dt>Tries again</dt>", "<summary>Blocked by: details</summary>")
        .doesNotContain("<dt>Continues</dt>", "<h2>Blocked by</h2>");
  }

  @Test
  void children_are_mentioned_only_if_there_are_any() throws Exception {
    String run = server.startRun("parents", TYPE);
    assertThat(body("/runs/" + run)).doesNotContain("<dt>Children</dt>");

    Held.claim("default", "parents")
        .report(
            ReportItem.newBuilder()
                .setChildStarted(
                    ChildStarted.newBuilder()
                        .setStepKey("child")
                        .setAttempt(1)
                        .setStart(TestServer.start("nobody", "child"))));

    assertThat(body("/runs/" + run))
        .contains("<dt>Children</dt>", "<a href=\"/runs?parent=" + run + "\">1 run</a>");
  }

  @Test
  void the_queue_and_the_type_lead_to_their_pages() throws Exception {
    String run = server.startRun("unserved", "some type");

    assertThat(body("/runs/" + run))
        .contains("<a href=\"/types/type?type=some+type\">some type</a>")
        .contains("<a href=\"/queues/queue?queue=unserved\">unserved</a>")
        .contains("<a href=\"/queues/queue?queue=unserved\">queue unserved</a>");
  }
}
