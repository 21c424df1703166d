package dev.kagzi.compatibility;

import static dev.kagzi.compatibility.OrdersApplication.PROCESS_ORDER;
import static dev.kagzi.testkit.KagziAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.compatibility.OrdersApplication.Order;
import dev.kagzi.compatibility.OrdersApplication.Receipt;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.spring.test.KagziTest;
import dev.kagzi.testkit.KagziEnv;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;

/** The whole application, with everything that its Spring Boot brings. */
@KagziTest(
    webEnvironment = WebEnvironment.RANDOM_PORT,
    properties = {
      "management.endpoints.web.exposure.include=*",
      "management.endpoint.health.show-details=always"
    })
class OrdersApplicationTest {
  @Autowired KagziEnv env;
  @Autowired Kagzi kagzi;

  @Value("${local.server.port}")
  int port;

  @Test
  void a_workflow_of_beans_sleeps_crashes_and_completes() {
    env.crashWorkerAfter("insert");

    RunHandle<Receipt> run =
        kagzi
            .workflow(PROCESS_ORDER)
            .start(new Order("lamp", 4200, Instant.EPOCH, Set.of("b", "a")));
    env.advance(Duration.ofHours(25));

    assertThat(run)
        .completedWith(new Receipt("lamp", 4200, 1))
        .executedStep("insert")
        .once();
    assertThat(run.history().toJson()).contains("\"item\"");
  }

  @Test
  void a_controller_starts_a_run() throws Exception {
    String answer =
        http(
            HttpRequest.newBuilder(uri("/orders"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"item\":\"chair\",\"cents\":1,\"tags\":[]}")));
    String runId = answer.replaceAll(".*\"runId\":\"([^\"]*)\".*", "$1");

    env.advance(Duration.ofHours(25));

    assertThat(kagzi.run(runId, PROCESS_ORDER)).completedWith(new Receipt("chair", 1, 1));
  }

  @Test
  void health_info_and_metrics_show_the_worker() throws Exception {
    env.settle();

    assertThat(get("/actuator/health")).contains("\"kagzi\":{", "\"orders\":\"connected, 0 active");
    assertThat(get("/actuator/health/kagzi")).startsWith("{").contains("\"status\":\"UP\"");
    assertThat(get("/actuator/info")).contains("\"orders\":[\"process-order\"]");
    assertThat(get("/actuator/metrics")).contains("\"kagzi.");
  }

  private String get(String path) throws Exception {
    return http(HttpRequest.newBuilder(uri(path)));
  }

  private URI uri(String path) {
    return URI.create("http://localhost:" + port + path);
  }

  private static String http(HttpRequest.Builder request) throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(request.build(), BodyHandlers.ofString()).body();
    }
  }
}
