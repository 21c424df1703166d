package dev.kagzi.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.server.TestServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** PostgreSQL is stopped, so that connections stay open and nothing answers. */
class HangingDatabaseTest {
  private static final Duration ANSWER_MAX = Duration.ofSeconds(5);

  /** Stops all processes of a PostgreSQL server until it is closed. */
  private static final class Stopped implements AutoCloseable {
    private final EmbeddedPostgres postgres;

    Stopped(EmbeddedPostgres postgres) throws IOException {
      this.postgres = postgres;
      signal("-STOP");
    }

    private void signal(String signal) throws IOException {
      List<String> command =
          new ArrayList<>(List.of("kill", signal, Long.toString(postgres.pid())));
      ProcessHandle.of(postgres.pid())
          .orElseThrow()
          .descendants()
          .forEach(process -> command.add(Long.toString(process.pid())));
      Process kill = new ProcessBuilder(command).inheritIO().start();
      assertThat(kill.onExit().join().exitValue()).isZero();
    }

    @Override
    public void close() throws IOException {
      signal("-CONT");
    }
  }

  @Test
  void pages_and_actions_are_refused_within_seconds_and_work_again_afterwards() throws Exception {
    try (EmbeddedPostgres postgres = EmbeddedPostgres.builder().ephemeral().durable(false).start();
        TestServer server = start(postgres)) {
      TestBrowser browser = new TestBrowser(server);
      String formToken = browser.formToken("/start");
      assertThat(browser.load("/runs").statusCode()).isEqualTo(200);
      // At the same time, because each takes as long as the server waits for PostgreSQL.
      try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor();
          Socket live = follow(server);
          Stopped stopped = new Stopped(postgres)) {
        Future<HttpResponse<String>> overview = callers.submit(() -> browser.load("/"));
        Future<HttpResponse<String>> runs = callers.submit(() -> browser.load("/runs"));
        Future<HttpResponse<String>> start =
            callers.submit(
                () ->
                    browser.sendForm("/start", formToken, "workflow_type", "a", "task_queue", "b"));
        for (Future<HttpResponse<String>> page : List.of(overview, runs)) {
          assertUnavailable("page", answer(page)).contains("Load the page again");
        }
        assertUnavailable("start a run", answer(start)).contains("look before you repeat it");
        assertThat(browser.load("/login").statusCode()).isEqualTo(303);
        assertThat(lines(live).lines().filter(line -> line.equals("event: trouble")).findFirst())
            .isPresent();
        assertThat(stopped).isNotNull();
      }
      assertThat(browser.load("/runs").statusCode()).isEqualTo(200);
    }
  }

  private static HttpResponse<String> answer(Future<HttpResponse<String>> sent) throws Exception {
    return sent.get(ANSWER_MAX.toSeconds(), TimeUnit.SECONDS);
  }

  private static TestServer start(EmbeddedPostgres postgres) {
    return TestServer.start(
        "postgres",
        config ->
            config
                .dbUrl(postgres.jdbcUrl("postgres"))
                .dbUser(postgres.user())
                .dbPassword(postgres.password()));
  }

  private static org.assertj.core.api.AbstractStringAssert<?> assertUnavailable(
      String what, HttpResponse<String> answer) {
    assertThat(answer.statusCode()).as(what).isEqualTo(503);
    return assertThat(answer.body()).as(what).contains("PostgreSQL does not answer the server.");
  }

  private static Socket follow(TestServer server) throws Exception {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.server().httpPort());
    socket.setSoTimeout(30_000);
    socket
        .getOutputStream()
        .write(
            "GET /live/overview HTTP/1.1\r\nHost: localhost\r\n\r\n"
                .getBytes(StandardCharsets.UTF_8));
    return socket;
  }

  private static BufferedReader lines(Socket socket) throws Exception {
    return new BufferedReader(
        new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
  }
}
