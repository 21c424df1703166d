package dev.kagzi.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kagzi.protocol.v1.CreateWorkflowScheduleRequest;
import dev.kagzi.protocol.v1.ForceOfflineWorkerRequest;
import dev.kagzi.protocol.v1.GetWorkflowRequest;
import dev.kagzi.protocol.v1.WorkflowScheduleServiceGrpc;
import dev.kagzi.server.BareWorker;
import dev.kagzi.server.TestServer;
import io.grpc.StatusRuntimeException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** What a server shows at /metrics. */
class MetricsTest {
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Duration SOON = Duration.ofSeconds(30);

  @AfterAll
  static void closeClient() {
    HTTP.close();
  }

  private static HttpResponse<String> get(TestServer server, String path, String... headers)
      throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + server.server().httpPort() + path);
    HttpRequest.Builder request = HttpRequest.newBuilder(uri);
    if (headers.length > 0) {
      request.headers(headers);
    }
    return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static String scrape(TestServer server) throws Exception {
    HttpResponse<String> page = get(server, "/metrics");
    assertThat(page.statusCode()).isEqualTo(200);
    return page.body();
  }

  private static double value(String text, String series) {
    Matcher line = Pattern.compile("(?m)^" + Pattern.quote(series) + " (\\S+)$").matcher(text);
    return line.find() ? Double.parseDouble(line.group(1)) : -1;
  }

  /** Makes everything happen that a server measures only when it happens. */
  private static void exercise(TestServer server) throws Exception {
    WorkflowScheduleServiceGrpc.newBlockingStub(server.sharedChannel())
        .withDeadlineAfter(10, TimeUnit.SECONDS)
        .createWorkflowSchedule(
            CreateWorkflowScheduleRequest.newBuilder()
                .setTaskQueue("clock")
                .setWorkflowType("tick")
                .setCronExpr("* * * * * *")
                .build());
    // Before the first scrape, which reads the workers of all queues for the next ten seconds.
    try (BareWorker idle = new BareWorker(server, "idle", "host", 2, "order")) {
      assertThat(idle.heartbeat()).isTrue();
    }
    try (BareWorker worker = new BareWorker(server, "q", "host", 1, "order")) {
      server.startRun("q", "order");
      worker.complete(worker.poll().getRunId(), TestServer.payload("1"));
      server.startRun("q", "order");
      worker.poll();
      server
          .admin()
          .forceOfflineWorker(
              ForceOfflineWorkerRequest.newBuilder().setWorkerId(worker.id()).build());
      Awaitility.await()
          .atMost(SOON)
          .until(() -> scrape(server).contains("kagzi_claims_lost_total{"));
    }
    System.gc();
    Awaitility.await().atMost(SOON).until(() -> scrape(server).contains("jvm_gc_pause_seconds"));
  }

  @Test
  void the_page_in_the_docs_lists_every_metric_with_its_type_and_labels_and_no_other()
      throws Exception {
    try (TestServer server = TestServer.start()) {
      exercise(server);
      Map<String, String> documented = new TreeMap<>();
      Map<String, String> served = new TreeMap<>();
      String text = scrape(server);
      MetricsPage.in(text).forEach(metric -> served.put(metric.name(), metric.toString()));
      for (MetricsPage.Metric metric : MetricsPage.under("Metrics of a server")) {
        if (!metric.isOptional() || served.containsKey(metric.name())) {
          documented.put(metric.name(), metric.toString());
        }
      }

      assertThat(documented).isNotEmpty();
      assertThat(served.values()).containsExactlyInAnyOrderElementsOf(documented.values());
      assertThat(documented)
          .allSatisfy(
              (name, metric) -> {
                if (metric.contains(" histogram ") || metric.contains(" summary ")) {
                  assertThat(text).contains("# TYPE " + name + "_max gauge");
                }
              });
    }
  }

  @Test
  void the_values_are_those_of_what_happened() throws Exception {
    try (TestServer server = TestServer.start()) {
      exercise(server);
      String type = "{namespace=\"default\",type=\"order\"";
      String queue = "{namespace=\"default\",queue=\"q\"";

      Awaitility.await()
          .atMost(SOON)
          .pollInterval(Duration.ofSeconds(1))
          .untilAsserted(
              () ->
                  assertThat(
                          value(
                              scrape(server), "kagzi_queue_runs" + queue + ",status=\"pending\"}"))
                      .isEqualTo(1));
      String text = scrape(server);

      assertThat(value(text, "kagzi_runs_started_total" + type + "}")).isEqualTo(2);
      assertThat(
              value(
                  text,
                  "kagzi_runs_ended_total{namespace=\"default\",status=\"completed\",type=\"order\"}"))
          .isEqualTo(1);
      assertThat(value(text, "kagzi_run_crashes_total" + type + "}")).isEqualTo(1);
      assertThat(value(text, "kagzi_claims_lost_total{reason=\"worker_forced_offline\"}"))
          .isEqualTo(1);
      assertThat(value(text, "kagzi_dispatch_latency_seconds_count" + queue + "}")).isEqualTo(2);
      assertThat(
              value(
                  text,
                  "kagzi_grpc_calls_seconds_count{method=\"WorkflowService/StartWorkflow\",status=\"OK\"}"))
          .isEqualTo(2);
      assertThat(value(text, "kagzi_schedule_lateness_seconds_count")).isPositive();
      assertThat(value(text, "kagzi_schedule_lateness_seconds_max")).isBetween(0.0, 10.0);
    }
  }

  @Test
  void a_refused_call_is_measured_with_its_status() throws Exception {
    try (TestServer server = TestServer.start()) {
      assertThat(
              catchThrowableOfType(
                  StatusRuntimeException.class,
                  () ->
                      server
                          .workflows()
                          .getWorkflow(
                              GetWorkflowRequest.newBuilder()
                                  .setRunId(UUID.randomUUID().toString())
                                  .build())))
          .isNotNull();

      assertThat(
              value(
                  scrape(server),
                  "kagzi_grpc_calls_seconds_count{method=\"WorkflowService/GetWorkflow\",status=\"NOT_FOUND\"}"))
          .isEqualTo(1);
    }
  }

  @Test
  void paths_and_methods_that_callers_invent_are_one_series() throws Exception {
    try (TestServer server = TestServer.start()) {
      for (int i = 0; i < 20; i++) {
        get(server, "/invented-" + i);
      }
      URI uri = URI.create("http://127.0.0.1:" + server.server().httpPort() + "/metrics");
      HTTP.send(
          HttpRequest.newBuilder(uri)
              .method("INVENTED", HttpRequest.BodyPublishers.noBody())
              .build(),
          HttpResponse.BodyHandlers.ofString());

      List<String> requests =
          scrape(server)
              .lines()
              .filter(line -> line.startsWith("kagzi_http_requests_seconds_count{"))
              .toList();

      assertThat(requests)
          .anyMatch(line -> line.contains("path=\"other\",status=\"404\"} 20"))
          .noneMatch(line -> line.contains("nvented"))
          .hasSizeLessThan(5);
    }
  }

  @Test
  void names_beyond_the_limit_are_counted_as_other() throws Exception {
    try (TestServer server =
        TestServer.start(TestServer.createDatabase(), config -> config.metrics(true, 2))) {
      for (int i = 0; i < 5; i++) {
        server.startRun("queue-" + i, "type-" + i);
      }

      String text = scrape(server);

      assertThat(value(text, "kagzi_runs_started_total{namespace=\"other\",type=\"other\"}"))
          .isEqualTo(3);
      assertThat(
              value(
                  text, "kagzi_queue_runs{namespace=\"other\",queue=\"other\",status=\"pending\"}"))
          .isEqualTo(3);
    }
  }

  @Test
  void metrics_require_the_token_of_the_server() throws Exception {
    try (TestServer server =
        TestServer.start(TestServer.createDatabase(), config -> config.token("s3cret"))) {
      HttpResponse<String> refused = get(server, "/metrics");
      HttpResponse<String> page = get(server, "/metrics", "Authorization", "Bearer s3cret");

      assertThat(refused.statusCode()).isEqualTo(401);
      assertThat(refused.body()).doesNotContain("kagzi_");
      assertThat(page.statusCode()).isEqualTo(200);
      assertThat(page.headers().firstValue("Content-Type").orElse("").replace(" ", ""))
          .isEqualToIgnoringCase("text/plain;version=0.0.4;charset=utf-8");
      assertThat(page.body()).contains("kagzi_build{").doesNotContain("s3cret");
    }
  }

  @Test
  void a_server_without_metrics_serves_and_measures_none() throws Exception {
    try (TestServer server =
        TestServer.start(TestServer.createDatabase(), config -> config.metrics(false, 100))) {
      server.startRun("q", "order");

      HttpResponse<String> page = get(server, "/metrics");

      assertThat(page.statusCode()).isEqualTo(404);
      assertThat(page.body()).startsWith("metrics: off");
      assertThat(server.server().engine().metrics().registry().getMeters()).isEmpty();
    }
  }
}
