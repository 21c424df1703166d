package dev.kagzi.sdk.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.sdk.Branch;
import dev.kagzi.sdk.Callback;
import dev.kagzi.sdk.CallbackFailedException;
import dev.kagzi.sdk.InvalidArgumentException;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.Replayer;
import dev.kagzi.sdk.RequestRefusedException;
import dev.kagzi.sdk.RunFailedException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunHistory;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.TypeRef;
import dev.kagzi.sdk.Workflow;
import dev.kagzi.sdk.WorkflowType;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Callbacks as the code of workflows makes and awaits them, answered over HTTP. */
@SuppressWarnings("NullAway.Init")
class CallbackTest {
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static RealServer server;

  private Kagzi kagzi;
  private WorkflowType<String, String> type;
  private final List<String> urls = new CopyOnWriteArrayList<>();

  record Payment(int amount) {}

  @BeforeAll
  static void startServer() {
    server = new RealServer(EngineConfig.defaults(), config -> config.localCallbacks("a secret"));
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @BeforeEach
  void connect(TestInfo test) {
    String queue = test.getTestMethod().orElseThrow().getName();
    type = WorkflowType.of("pay", String.class, String.class).queue(queue);
    kagzi = Kagzi.connect(server.address());
  }

  @AfterEach
  void disconnect() {
    kagzi.close();
  }

  private RunHandle<String> run(Workflow<String, String> code) {
    kagzi.worker().workflow(type, code).start();
    return kagzi.workflow(type).start("Ada");
  }

  private static void awaitStatus(RunHandle<?> run, RunStatus status) {
    await().atMost(SOON).until(() -> run.status() == status);
  }

  private String url() {
    await().atMost(SOON).until(() -> !urls.isEmpty());
    return urls.get(0);
  }

  private static String post(String url, String body) throws Exception {
    return HTTP.send(
            HttpRequest.newBuilder(URI.create(url))
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  @Test
  void a_run_parks_until_the_url_is_posted_to_and_the_url_is_the_same_in_a_replay()
      throws Exception {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Callback<Payment> payment = ctx.callback("payment", Payment.class);
              urls.add(payment.url());
              ctx.step("charge", () -> urls.add(payment.url()));
              return name + " paid " + payment.await().amount() + " " + payment;
            });
    awaitStatus(run, RunStatus.SLEEPING);

    assertThat(post(url(), "{\"amount\": 12}")).contains("completed");

    assertThat(run.result(SOON)).isEqualTo("Ada paid 12 callback payment");
    assertThat(urls).hasSize(3).containsOnly(urls.get(0));
    assertThat(run.history().steps())
        .extracting(step -> step.key() + " " + step.kind())
        .containsExactly("payment CALLBACK", "charge FUNCTION", "await:payment SIGNAL");
  }

  @Test
  void a_timeout_ends_the_wait_and_not_the_callback() throws Exception {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Callback<Payment> payment = ctx.callback("payment", Payment.class);
              ctx.step("charge", () -> urls.add(payment.url()));
              Optional<Payment> first = payment.await(Duration.ofMillis(200));
              ctx.step("remind", () -> urls.add("reminder"));
              return first.isPresent() + " " + payment.await(Duration.ofHours(1)).orElseThrow();
            });
    await().atMost(SOON).until(() -> urls.contains("reminder"));

    post(url(), "{\"amount\": 3}");

    assertThat(run.result(SOON)).isEqualTo("false Payment[amount=3]");
  }

  @Test
  void a_failed_callback_throws_and_is_thrown_again_by_a_retry_of_the_run() throws Exception {
    AtomicInteger attempts = new AtomicInteger();
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              attempts.incrementAndGet();
              Callback<Payment> payment = ctx.callback("payment", Payment.class);
              ctx.step("charge", () -> urls.add(payment.url()));
              try {
                payment.await();
              } catch (CallbackFailedException e) {
                ctx.step("undo", () -> urls.add(e.failure().type() + ": " + e.failure().message()));
                throw e;
              }
              return "paid";
            });

    post(url() + "/fail", "{\"message\": \"no money\", \"type\": \"Declined\"}");

    assertThatThrownBy(() -> run.result(SOON))
        .isInstanceOfSatisfying(
            RunFailedException.class,
            failed -> {
              assertThat(failed.failure().message()).isEqualTo("no money");
              assertThat(failed.failure().type()).isEqualTo("Declined");
              assertThat(failed.failure().nonRetryable()).isTrue();
              assertThat(failed.failure().step()).contains("await:payment");
            });
    assertThat(urls).contains("Declined: no money");
  }

  @Test
  void branches_await_one_callback_and_the_loser_of_a_race_takes_nothing() throws Exception {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Callback<List<Integer>> numbers =
                  ctx.callback("numbers", new TypeRef<List<Integer>>() {});
              ctx.step("ask", () -> urls.add(numbers.url()));
              List<List<Integer>> both =
                  ctx.parallel("both", List.of("a", "b"), (branch, each) -> numbers.await());
              String raced =
                  ctx.race(
                      "raced",
                      List.of(
                          Branch.of("answer", branch -> numbers.await() + ""),
                          Branch.of(
                              "timer",
                              branch -> {
                                branch.sleep("patience", Duration.ofHours(1));
                                return "late";
                              })));
              return both + " " + raced + " " + numbers.await();
            });
    awaitStatus(run, RunStatus.SLEEPING);

    post(url(), "[1, 2]");

    assertThat(run.result(SOON)).isEqualTo("[[1, 2], [1, 2]] [1, 2] [1, 2]");
  }

  @Test
  void callbacks_of_one_name_and_in_branches_are_several() throws Exception {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Callback<String> first = ctx.callback("word", String.class);
              Callback<String> second = ctx.callback("word", String.class);
              return first.await()
                  + second.await()
                  + ctx.parallel(
                      "more",
                      List.of(1, 2),
                      (branch, i) -> branch.callback("word", String.class).await());
            });
    for (String key : List.of("word#2", "word", "more[1]/word", "more[0]/word")) {
      await()
          .atMost(SOON)
          .ignoreException(RequestRefusedException.class)
          .until(() -> run.completeCallback(key, key));
    }

    assertThat(run.result(SOON)).isEqualTo("wordword#2[more[0]/word, more[1]/word]");
  }

  @Test
  void a_client_answers_without_the_url_and_the_first_answer_stays() throws Exception {
    RunHandle<String> run =
        run(
            (ctx, name) -> {
              Callback<Payment> payment = ctx.callback("payment", Payment.class);
              ctx.step("charge", () -> urls.add(payment.url()));
              ctx.sleep("nap", Duration.ofMillis(1_100));
              return "paid " + payment.await().amount();
            });
    String url = url();

    assertThat(run.completeCallback("payment", new Payment(7))).isTrue();
    assertThat(run.failCallback("payment", "too late")).isFalse();
    assertThat(post(url + "/fail", "too late")).contains("completed");

    assertThat(run.result(SOON)).isEqualTo("paid 7");
    assertThatThrownBy(() -> run.completeCallback("other", 1))
        .isInstanceOfSatisfying(
            RequestRefusedException.class,
            refused -> assertThat(refused.code()).isEqualTo("CALLBACK_NOT_FOUND"));
  }

  @Test
  void a_history_replays_without_the_url(@TempDir Path folder) throws Exception {
    Workflow<String, String> code =
        (ctx, name) -> {
          Callback<Payment> payment = ctx.callback("payment", Payment.class);
          String url = payment.url();
          ctx.step("charge", () -> urls.add(url));
          return "paid " + payment.await().amount();
        };
    RunHandle<String> run = run(code);
    String url = url();
    post(url, "{\"amount\": 5}");
    assertThat(run.result(SOON)).isEqualTo("paid 5");

    Path file = folder.resolve("run.json");
    RunHistory history = run.history();
    history.write(file);

    assertThat(file).content().doesNotContain(url.replaceFirst(".*\\.", ""));
    new Replayer().workflow(type, code).replay(RunHistory.read(file));
  }

  @Test
  void a_server_without_the_options_fails_the_run_and_says_what_to_set() {
    try (RealServer plain = new RealServer();
        Kagzi client = Kagzi.connect(plain.address())) {
      client
          .worker()
          .workflow(type, (ctx, name) -> ctx.callback("payment", Payment.class).url())
          .start();
      RunHandle<String> run = client.workflow(type).start("Ada");

      assertThatThrownBy(() -> run.result(SOON))
          .isInstanceOf(RunFailedException.class)
          .hasMessageContaining("callbacks are off on this server: public-url: none (expected:");
    }
  }

  @Test
  void names_are_checked() {
    assertThatThrownBy(() -> Signal.of("callback:payment", String.class))
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageContaining("which is for callbacks");
    RunHandle<String> run = run((ctx, name) -> ctx.callback("x".repeat(195), Void.class).url());

    assertThatThrownBy(() -> run.result(SOON))
        .hasMessageContaining("callback name: 195 characters (expected: at most 194)");
  }

  @Test
  void the_token_is_in_no_span() throws Exception {
    try (OtlpCollector collector = new OtlpCollector();
        RealServer traced =
            new RealServer(
                EngineConfig.defaults(),
                config -> config.localCallbacks("s").otlpEndpoint(collector.endpoint()));
        OpenTelemetrySdk telemetry = TracedWorkerProcess.telemetry(collector.endpoint(), "client");
        Kagzi client =
            Kagzi.builder().address(traced.address()).openTelemetry(telemetry).connect()) {
      client
          .worker()
          .workflow(
              type,
              (ctx, name) -> {
                Callback<Payment> payment = ctx.callback("payment", Payment.class);
                ctx.step("charge", () -> urls.add(payment.url()));
                return "paid " + payment.await().amount();
              })
          .start();
      RunHandle<String> run = client.workflow(type).start("Ada");
      String url = url();
      post(url + "x", "1");
      post(url, "{\"amount\": 5}");
      assertThat(run.result(SOON)).isEqualTo("paid 5");
      telemetry.getSdkTracerProvider().forceFlush();

      await().atMost(SOON).until(() -> !collector.spans("kagzi.step").isEmpty());
      String token = url.replaceFirst(".*\\.", "");
      assertThat(collector.spans("kagzi"))
          .allSatisfy(span -> assertThat(span.span().toString()).doesNotContain(token));
    }
  }
}
