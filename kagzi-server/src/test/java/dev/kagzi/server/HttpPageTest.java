package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class HttpPageTest {

  @Test
  void the_start_page_describes_the_server_to_its_own_origin_only() throws Exception {
    try (TestServer server = TestServer.start();
        HttpClient http = HttpClient.newHttpClient()) {
      URI uri = URI.create("http://127.0.0.1:" + server.server().httpPort() + "/");

      HttpResponse<String> page =
          http.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
      HttpResponse<String> foreign =
          http.send(
              HttpRequest.newBuilder(uri).header("Origin", "http://evil.example").build(),
              HttpResponse.BodyHandlers.ofString());

      assertThat(page.statusCode()).isEqualTo(200);
      assertThat(page.body()).startsWith("This is Kagzi ").contains("/readyz");
      assertThat(page.headers().firstValue("Content-Type")).hasValue("text/plain;charset=utf-8");
      assertThat(foreign.statusCode()).isEqualTo(403);
      assertThat(foreign.body()).contains("origin: http://evil.example");
      assertThat(page.headers().map().keySet())
          .noneMatch(name -> name.toLowerCase(Locale.ROOT).startsWith("access-control"));
    }
  }
}
