package dev.kagzi.server;

import static dev.kagzi.server.BatchWorker.done;
import static dev.kagzi.server.BatchWorker.item;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.protocol.v1.CancelWorkflowRequest;
import dev.kagzi.protocol.v1.ReportItem;
import dev.kagzi.protocol.v1.ReportResult;
import dev.kagzi.protocol.v1.Task;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Outside systems answer callbacks: which response they get, and what nobody else sees. */
class CallbackHttpTest {
  private static final String KEY = "a key of more than thirty-two characters";
  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static final String COMPLETED = "{\"callback\": \"completed\"}\n";
  private static final String FAILED = "{\"callback\": \"failed\"}\n";

  private static String database;
  private static TestServer server;
  private static TestServer other;

  @BeforeAll
  static void startServers() {
    database = TestServer.createDatabase();
    server = start(Map.of("KAGZI_TOKEN", "dashboard"));
    other = start(Map.of());
  }

  private static TestServer start(Map<String, String> more) {
    Map<String, String> environment = new HashMap<>(more);
    environment.putIfAbsent("KAGZI_CALLBACK_KEYS", KEY);
    environment.putIfAbsent("KAGZI_PUBLIC_URL", "https://kagzi.example.com");
    environment.put("KAGZI_PAYLOAD_BYTES_MAX", "64KiB");
    environment.put("KAGZI_PAYLOAD_BYTES_WARN", "64KiB");
    return TestServer.start(database, ignored -> TestServer.config(database, environment));
  }

  @AfterAll
  static void stopServers() {
    server.close();
    other.close();
  }

  /** A run that has made a callback, at the server without a token. */
  private static final class Made implements AutoCloseable {
    final BatchWorker worker;
    final Task task;
    final String path;

    Made(String queue) {
      other.startRun(queue, "order");
      worker = new BatchWorker(other, queue, "order");
      task = worker.poll(1).get(0);
      ReportResult made = worker.report(CallbackCallsTest.callback(task, "payment")).get(0);
      String url = made.getAlreadyRecorded().getCallbackUrl();
      assertThat(url).startsWith("https://kagzi.example.com/callbacks/");
      path = URI.create(url).getPath();
    }

    ReportResult waits(String step, long timeoutMs) {
      return worker
          .report(
              item(task)
                  .setReceive(
                      ReportItem.ReceiveStarted.newBuilder()
                          .setStepKey(step)
                          .setSignalName("callback:payment")
                          .setTimeoutMs(timeoutMs)))
          .get(0);
    }

    @Override
    public void close() {
      worker.close();
    }
  }

  private static HttpResponse<String> post(int port, String path, String body) throws Exception {
    return send(port, path, HttpRequest.BodyPublishers.ofString(body));
  }

  private static HttpResponse<String> send(
      int port, String path, HttpRequest.BodyPublisher body, String... headers) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).POST(body);
    if (headers.length > 0) {
      request.headers(headers);
    }
    return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static int port() {
    return server.server().httpPort();
  }

  private static void assertAnswer(HttpResponse<String> response, int status, String body) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    assertThat(response.body()).contains(body);
    assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
  }

  @Test
  void a_post_completes_the_callback_and_every_repetition_gets_the_same_response()
      throws Exception {
    try (Made made = new Made("completes")) {
      HttpResponse<String> first = post(port(), made.path, "{\"amount\": 12}");

      assertAnswer(first, 200, COMPLETED);
      for (String body : List.of("{\"amount\": 12}", "other", "", "x".repeat(100_000))) {
        for (int port : new int[] {port(), other.server().httpPort()}) {
          assertThat(post(port, made.path, body).body()).isEqualTo(COMPLETED);
          assertThat(post(port, made.path + "/fail", body).body()).isEqualTo(COMPLETED);
        }
      }
      assertThat(made.waits("await:payment", 0).getReceived().getOutput().getData().toStringUtf8())
          .isEqualTo("{\"amount\": 12}");
      made.worker.report(done(made.task));
      assertAnswer(post(port(), made.path, "1"), 200, COMPLETED);
    }
  }

  @Test
  void a_post_to_fail_fails_it_with_the_message_and_type_of_the_body() throws Exception {
    Map<String, List<String>> bodies =
        Map.of(
            "{\"message\": \"no money\", \"type\": \"Declined\", \"x\": [1]}",
            List.of("no money", "Declined"),
            "card stolen",
            List.of("card stolen", ""),
            "{\"message\": \"a\\u0000b\\ud800c\"}",
            List.of("a b?c", ""),
            "",
            List.of("no message", ""));
    int number = 0;
    for (Map.Entry<String, List<String>> each : bodies.entrySet()) {
      try (Made made = new Made("fails" + number++)) {
        assertAnswer(post(port(), made.path + "/fail", each.getKey()), 200, FAILED);
        assertAnswer(post(port(), made.path, "1"), 200, FAILED);
        Map<String, String> metadata =
            made.waits("await:payment", 0).getReceived().getOutput().getMetadataMap();
        assertThat(metadata)
            .containsEntry("kagzi.failure", each.getValue().get(0))
            .containsEntry("kagzi.failure-type", each.getValue().get(1));
        made.worker.report(done(made.task));
      }
    }
  }

  @Test
  void a_post_wakes_a_parked_run_and_after_the_timeout_the_next_wait_gets_it() throws Exception {
    try (Made made = new Made("parked")) {
      assertThat(made.waits("await:payment", 60_000).getReceiving().getClaimKept()).isFalse();

      assertAnswer(post(port(), made.path, "12"), 200, COMPLETED);

      Task woken = made.worker.poll(1).get(0);
      assertThat(woken.getStepsList())
          .anySatisfy(
              step -> assertThat(step.getOutput().getData().toStringUtf8()).isEqualTo("12"));
    }
    try (Made made = new Made("timed-out")) {
      assertThat(made.waits("await:payment", 0).getReceived().getTimedOut()).isTrue();

      assertAnswer(post(port(), made.path, "12"), 200, COMPLETED);

      assertThat(
              made.waits("await:payment#2", 0).getReceived().getOutput().getData().toStringUtf8())
          .isEqualTo("12");
    }
  }

  @Test
  void wrong_tokens_bodies_and_ended_runs_are_refused_with_their_status() throws Exception {
    try (Made made = new Made("refused")) {
      String wrong = made.path.substring(0, made.path.length() - 5) + "AAAAA";
      assertAnswer(post(port(), wrong, "1"), 404, "{\"error\": \"no such callback\"}");
      assertAnswer(post(port(), "/callbacks/x/fail", "1"), 404, "no such callback");
      for (String body : List.of("", "null", "{", "1 2", "text")) {
        assertAnswer(post(port(), made.path, body), 400, "body: ");
      }
      assertAnswer(
          send(port(), made.path, HttpRequest.BodyPublishers.ofByteArray(new byte[] {-1, 34})),
          400,
          "not a JSON value");
      assertAnswer(
          post(port(), made.path, "\"" + "x".repeat(65_535) + "\""), 413, "at most 65536 bytes");
      assertAnswer(
          post(port(), made.path + "/fail", "x".repeat(9 << 20)), 413, "at most 65536 bytes");
      HttpResponse<String> followed =
          CLIENT.send(
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + made.path)).build(),
              HttpResponse.BodyHandlers.ofString());
      assertAnswer(followed, 405, "{\"error\": \"GET (expected: POST)\"}");
      assertThat(followed.headers().firstValue("Allow")).contains("POST");

      other
          .workflows()
          .cancelWorkflow(
              CancelWorkflowRequest.newBuilder().setRunId(made.task.getRunId()).build());
      assertAnswer(post(port(), made.path, "1"), 410, "the run of this callback has ended");
      deleteRun(made.task.getRunId());
      assertAnswer(post(port(), made.path, "1"), 410, "the run of this callback has ended");
    }
  }

  @Test
  void a_caller_can_send_the_whole_of_a_body_that_is_too_large_and_then_read_the_response()
      throws Exception {
    try (Made made = new Made("large");
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port())) {
      byte[] part = "x".repeat(1 << 20).getBytes(UTF_8);
      OutputStream out = socket.getOutputStream();
      String head =
          "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\n\r\n"
              .formatted(made.path, port(), 9 * part.length);
      out.write(head.getBytes(UTF_8));
      out.write(part);
      socket.setSoTimeout(300);
      assertThatThrownBy(() -> socket.getInputStream().read())
          .as("a response before the end of the body")
          .isInstanceOf(SocketTimeoutException.class);

      for (int i = 0; i < 8; i++) {
        out.write(part);
      }

      socket.setSoTimeout(30_000);
      byte[] line = socket.getInputStream().readNBytes("HTTP/1.1 413".length());
      assertThat(new String(line, UTF_8)).isEqualTo("HTTP/1.1 413");
    }
  }

  private static void deleteRun(String run) throws Exception {
    EmbeddedPostgres postgres = SharedPostgres.server();
    try (Connection sql =
        DriverManager.getConnection(
            postgres.jdbcUrl(database), postgres.user(), postgres.password())) {
      sql.createStatement().execute("DELETE FROM kagzi.workflow_runs WHERE run_id = '" + run + "'");
    }
  }

  @Test
  void posts_beside_each_other_at_two_servers_are_one_answer() throws Exception {
    try (Made made = new Made("beside")) {
      List<CompletableFuture<HttpResponse<String>>> sent = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        int port = i % 2 == 0 ? port() : other.server().httpPort();
        String path = i % 4 < 2 ? made.path : made.path + "/fail";
        sent.add(
            CLIENT.sendAsync(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                    .POST(HttpRequest.BodyPublishers.ofString("\"" + i + "\""))
                    .build(),
                HttpResponse.BodyHandlers.ofString()));
      }

      List<String> bodies = sent.stream().map(each -> each.join().body()).toList();

      assertThat(bodies).containsOnly(bodies.get(0));
      boolean failed =
          made.waits("await:payment", 0)
              .getReceived()
              .getOutput()
              .containsMetadata("kagzi.failure");
      assertThat(bodies.get(0)).isEqualTo(failed ? FAILED : COMPLETED);
    }
  }

  @Test
  void a_port_for_callbacks_serves_nothing_else_and_the_http_port_no_callbacks() throws Exception {
    try (Made made = new Made("port");
        TestServer apart = start(Map.of("KAGZI_CALLBACK_PORT", "0"))) {
      int own = apart.server().callbackPort();
      assertThat(own).isNotEqualTo(apart.server().httpPort());

      for (String path : List.of("/", "/healthz", "/metrics", "/runs", "/login")) {
        assertThat(get(own, path)).as(path).isEqualTo(404);
      }
      assertThat(get(apart.server().httpPort(), "/healthz")).isEqualTo(200);
      assertThat(post(apart.server().httpPort(), made.path, "1").statusCode()).isEqualTo(404);
      assertAnswer(post(own, made.path, "1"), 200, COMPLETED);
    }
  }

  private static int get(int port, String path) throws Exception {
    return CLIENT
        .send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
            HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }

  @Test
  void only_wrong_tokens_of_one_address_wait() throws Exception {
    try (Made made = new Made("slow");
        TestServer guessed = start(Map.of("KAGZI_TRUSTED_PROXIES", "127.0.0.0/8"))) {
      int at = guessed.server().httpPort();
      long begun = System.nanoTime();
      // More than enough for the longest delay, even if a minute ends in between.
      List<CompletableFuture<HttpResponse<String>>> wrong =
          Stream.generate(() -> sendAsync(at, "/callbacks/wrong.token", "203.0.113.1"))
              .limit(40)
              .toList();

      assertThat(sendAsync(at, "/callbacks/wrong.token", "203.0.113.2").join().statusCode())
          .isEqualTo(404);
      assertAnswer(sendAsync(at, made.path, "203.0.113.1").join(), 200, COMPLETED);

      assertThat(wrong).as("wrong tokens").anyMatch(each -> !each.isDone());
      assertThat(wrong).allMatch(each -> each.join().statusCode() == 404);
      assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofSeconds(3));
    }
  }

  private static CompletableFuture<HttpResponse<String>> sendAsync(
      int port, String path, String address) {
    return CLIENT.sendAsync(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .header("X-Forwarded-For", address)
            .POST(HttpRequest.BodyPublishers.ofString("1"))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  /** At the levels that the command line ships: libraries log warnings, the server everything. */
  @Test
  void the_token_is_in_no_log_metric_or_stored_row() throws Exception {
    Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    Logger own = (Logger) LoggerFactory.getLogger("dev.kagzi");
    Level before = own.getLevel();
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    own.setLevel(Level.TRACE);
    root.addAppender(log);
    String token;
    try (Made made = new Made("secret")) {
      token = made.path.replaceFirst(".*/", "");
      post(port(), made.path + "x", "1");
      post(port(), made.path, "no json");
      post(port(), made.path, "\"" + "x".repeat(65_535) + "\"");
      post(port(), made.path, "1");
      post(port(), made.path + "/fail", "1");
      made.worker.report(done(made.task));
    } finally {
      own.setLevel(before);
      root.detachAppender(log);
    }

    String secret = token.substring(token.indexOf('.') + 1);
    assertThat(log.list)
        .allSatisfy(
            event ->
                assertThat(
                        event.getFormattedMessage()
                            + event.getKeyValuePairs()
                            + event.getMDCPropertyMap()
                            + event.getThrowableProxy())
                    .doesNotContain(secret));
    String page = metricsPage();
    assertThat(page)
        .contains("path=\"/callbacks/{token}\"", "path=\"/callbacks/{token}/fail\"")
        .doesNotContain(secret);
    assertThat(storedText()).contains("callback:payment").doesNotContain(secret);
  }

  private static String metricsPage() throws Exception {
    return CLIENT
        .send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + "/metrics"))
                .header("Authorization", "Bearer dashboard")
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  /** All rows of all tables. */
  private static String storedText() throws Exception {
    EmbeddedPostgres postgres = SharedPostgres.server();
    StringBuilder text = new StringBuilder();
    try (Connection sql =
        DriverManager.getConnection(
            postgres.jdbcUrl(database), postgres.user(), postgres.password())) {
      List<String> tables = new ArrayList<>();
      try (ResultSet rows =
          sql.createStatement()
              .executeQuery("SELECT tablename FROM pg_tables WHERE schemaname = 'kagzi'")) {
        while (rows.next()) {
          tables.add(rows.getString(1));
        }
      }
      for (String table : tables) {
        try (ResultSet rows =
            sql.createStatement().executeQuery("SELECT t::text FROM kagzi." + table + " t")) {
          while (rows.next()) {
            text.append(rows.getString(1)).append('\n');
          }
        }
      }
    }
    return text.toString();
  }
}
