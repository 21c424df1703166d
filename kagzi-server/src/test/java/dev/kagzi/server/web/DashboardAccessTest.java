package dev.kagzi.server.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import dev.kagzi.server.TestServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who may see the dashboard. Requests are written by hand: HTTP clients choose Host themselves. */
@SuppressWarnings("NullAway.Init")
class DashboardAccessTest {
  private static final String TOKEN = "correct-horse";
  private static final Pattern FORM_TOKEN =
      Pattern.compile("name=\"form_token\" value=\"([^\"]+)\"");

  private static TestServer open;
  private static TestServer guarded;

  @BeforeAll
  static void start() {
    open = TestServer.start();
    guarded = TestServer.start(TestServer.createDatabase(), config -> config.token(TOKEN));
  }

  @AfterAll
  static void stop() {
    open.close();
    guarded.close();
  }

  /** A response as text, with its headers. */
  private record Answer(String text) {
    int status() {
      return Integer.parseInt(text.split(" ", 3)[1]);
    }

    List<String> headers(String name) {
      return text.lines()
          .takeWhile(line -> !line.isEmpty())
          .filter(line -> line.regionMatches(true, 0, name + ": ", 0, name.length() + 2))
          .map(line -> line.substring(name.length() + 2))
          .toList();
    }

    String cookie() {
      return headers("Set-Cookie").stream()
          .filter(cookie -> !cookie.startsWith("kagzi-flash"))
          .map(cookie -> cookie.split(";", 2)[0])
          .findFirst()
          .orElse("");
    }

    String formToken() {
      Matcher matcher = FORM_TOKEN.matcher(text);
      return matcher.find() ? matcher.group(1) : "";
    }
  }

  private static Answer send(TestServer server, String line, String body, String... headers)
      throws IOException {
    int port = server.server().httpPort();
    StringBuilder request = new StringBuilder(line).append(" HTTP/1.1\r\nConnection: close\r\n");
    if (Arrays.stream(headers).noneMatch(header -> header.startsWith("Host:"))) {
      request.append("Host: localhost:").append(port).append("\r\n");
    }
    if (!body.isEmpty()) {
      request
          .append("Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ")
          .append(body.length())
          .append("\r\n");
    }
    for (String header : headers) {
      request.append(header).append("\r\n");
    }
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket
          .getOutputStream()
          .write(request.append("\r\n").append(body).toString().getBytes(StandardCharsets.UTF_8));
      return new Answer(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  private static Answer page(TestServer server, String path, String... headers) throws IOException {
    String[] all = Arrays.copyOf(headers, headers.length + 1);
    all[headers.length] = "Accept: text/html";
    return send(server, "GET " + path, "", all);
  }

  private static Answer logIn(String token) throws IOException {
    Answer form = page(guarded, "/login");
    return send(
        guarded,
        "POST /login",
        "form_token=" + form.formToken() + "&token=" + token + "&next=/queues",
        "Cookie: " + form.cookie());
  }

  @Test
  void a_page_allows_only_scripts_and_styles_of_the_server() throws Exception {
    Answer page = page(open, "/queues");

    assertThat(page.status()).isEqualTo(200);
    assertThat(page.headers("Content-Security-Policy"))
        .singleElement()
        .asString()
        .contains(
            "default-src 'none'",
            "script-src 'self';",
            "style-src 'self';",
            "frame-ancestors 'none'")
        .doesNotContain("unsafe", "*");
    assertThat(page.headers("X-Content-Type-Options")).containsExactly("nosniff");
    assertThat(page.headers("Cache-Control")).containsExactly("no-store");
    assertThat(page.text())
        .doesNotContain("<style")
        .doesNotContain(" style=")
        .doesNotContain("onclick");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/queues", "/", "/metrics", "/assets/kagzi.css", "/login"})
  void a_name_that_is_not_the_servers_is_refused(String path) throws Exception {
    assertThat(page(open, path, "Host: rebound.evil.example:8484").status()).isEqualTo(421);
    assertThat(page(open, path, "Origin: http://evil.example").status()).isEqualTo(403);
  }

  @Test
  void probes_may_use_any_name() throws Exception {
    assertThat(page(open, "/healthz", "Host: pod.example").status()).isEqualTo(200);
    assertThat(page(guarded, "/readyz", "Host: pod.example").status()).isEqualTo(200);
  }

  @Test
  void a_caller_with_the_token_may_use_any_name() throws Exception {
    Answer scraped =
        send(guarded, "GET /metrics", "", "Host: server-1", "Authorization: Bearer " + TOKEN);

    assertThat(scraped.status()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/queues", "/", "/runs", "/live/queues", "/nothing"})
  void no_page_is_shown_without_a_login(String path) throws Exception {
    Answer browser = page(guarded, path);
    Answer script = send(guarded, "GET " + path, "");
    Answer forged = page(guarded, path, "Cookie: " + page(guarded, "/login").cookie());

    assertThat(browser.status()).isEqualTo(302);
    assertThat(browser.headers("Location")).singleElement().asString().contains("/login");
    assertThat(script.status()).isEqualTo(401);
    assertThat(forged.status()).isEqualTo(302);
  }

  @Test
  void the_token_opens_a_session_that_hides_it() throws Exception {
    Answer entered = logIn(TOKEN);

    assertThat(entered.status()).isEqualTo(303);
    assertThat(entered.headers("Location")).singleElement().asString().endsWith("/queues");
    assertThat(entered.headers("Set-Cookie"))
        .singleElement()
        .asString()
        .contains("HttpOnly", "SameSite=Lax", "Max-Age=43200", "Path=/")
        .doesNotContain(TOKEN);
    assertThat(page(guarded, "/queues", "Cookie: " + entered.cookie()).status()).isEqualTo(200);
  }

  /** If the browser sends no cookie with the link, the answer must not replace the login. */
  @Test
  void a_link_of_another_site_replaces_no_login() throws Exception {
    String login = logIn(TOKEN).cookie();
    String anonymous =
        page(
                guarded,
                "/login?next=/queues",
                "Sec-Fetch-Site: cross-site",
                "Sec-Fetch-Mode: navigate",
                "Sec-Fetch-Dest: document")
            .cookie();

    assertThat(anonymous).isNotEmpty();
    assertThat(nameOf(anonymous)).isNotEqualTo(nameOf(login));
    assertThat(page(guarded, "/queues", "Cookie: " + anonymous + "; " + login).status())
        .isEqualTo(200);
  }

  private static String nameOf(String cookie) {
    return cookie.substring(0, cookie.indexOf('='));
  }

  @Test
  void a_cookie_that_another_server_on_the_host_has_set_does_not_hide_a_login() throws Exception {
    String login = logIn(TOKEN).cookie();
    String name = nameOf(login) + "=";
    String anonymous = page(guarded, "/login").cookie();

    for (String other : List.of(anonymous, name + "forged", name)) {
      assertThat(page(guarded, "/queues", "Cookie: " + other + "; " + login).status())
          .isEqualTo(200);
    }
    assertThat(page(guarded, "/queues", "Cookie: " + anonymous).status()).isEqualTo(302);
  }

  @Test
  void a_logout_ends_the_session() throws Exception {
    String cookie = "Cookie: " + logIn(TOKEN).cookie();
    String token = page(guarded, "/queues", cookie).formToken();

    assertThat(send(guarded, "POST /logout", "form_token=" + token, cookie).status())
        .isEqualTo(303);

    assertThat(page(guarded, "/queues", cookie).status()).isEqualTo(302);
  }

  @Test
  void a_logout_ends_the_session_on_all_servers() throws Exception {
    try (TestServer other = TestServer.start(guarded.database(), config -> config.token(TOKEN))) {
      String cookie = "Cookie: " + logIn(TOKEN).cookie();
      String token = page(guarded, "/queues", cookie).formToken();
      assertThat(page(other, "/queues", cookie).status()).isEqualTo(200);
      try (Socket live = new Socket(InetAddress.getLoopbackAddress(), other.server().httpPort())) {
        String request = "GET /live/queues HTTP/1.1\r\nHost: localhost\r\n" + cookie + "\r\n\r\n";
        live.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
        live.setSoTimeout(20_000);
        BufferedReader lines =
            new BufferedReader(
                new InputStreamReader(live.getInputStream(), StandardCharsets.UTF_8));
        assertThat(lines.readLine()).contains("200");

        send(guarded, "POST /logout", "form_token=" + token, cookie);

        assertThat(page(other, "/queues", cookie).status()).isEqualTo(302);
        assertThat(lines.lines().filter(line -> line.equals("0")).findFirst())
            .as("the end of the live page")
            .isPresent();
      }
    }
  }

  @Test
  void a_login_leads_to_pages_of_this_server_only() throws Exception {
    for (String next :
        List.of(
            "//evil.example",
            "http://evil.example",
            "/\\evil.example",
            "%2F%09/evil.example",
            "%2F%0D%0ALocation:%20http://evil.example",
            "%20//evil.example",
            "javascript:evil",
            "x")) {
      Answer form = page(guarded, "/login");
      Answer entered =
          send(
              guarded,
              "POST /login",
              "form_token=" + form.formToken() + "&token=" + TOKEN + "&next=" + next,
              "Cookie: " + form.cookie());

      assertThat(entered.headers("Location"))
          .singleElement()
          .asString()
          .doesNotContain("evil")
          .endsWith("/");
    }
  }

  /** Only the headers are sent: the server answers before it reads anything. */
  @ParameterizedTest
  @CsvSource({
    "multipart/form-data; boundary=b, Content-Length: 1000000000, 415",
    "application/x-www-form-urlencoded, Content-Length: 20000, 413",
    "application/x-www-form-urlencoded, Transfer-Encoding: chunked, 411"
  })
  void a_login_that_is_large_or_no_form_is_refused_unread(String type, String length, int status)
      throws Exception {
    Answer answer = send(guarded, "POST /login", "", "Content-Type: " + type, length);

    assertThat(answer.status()).isEqualTo(status);
  }

  @Test
  void failed_logins_of_an_address_are_limited_and_lock_nobody_out() throws Exception {
    String database = TestServer.createDatabase();
    Map<String, String> options = Map.of("KAGZI_TRUSTED_PROXIES", "127.0.0.0/8");
    try (TestServer server =
        TestServer.start(database, ignored -> TestServer.config(database, options).token(TOKEN))) {
      Answer form = page(server, "/login");
      String body = "form_token=" + form.formToken() + "&token=";
      String[] here = {"Cookie: " + form.cookie(), "X-Forwarded-For: 203.0.113.1"};
      String[] elsewhere = {"Cookie: " + form.cookie(), "X-Forwarded-For: 203.0.113.2"};

      // More than enough, even if a minute ends in between.
      int last = 0;
      for (int i = 0; i < 25; i++) {
        last = send(server, "POST /login", body + "guess" + i, here).status();
      }

      assertThat(last).isEqualTo(429);
      assertThat(send(server, "POST /login", body + "guess", elsewhere).status()).isEqualTo(401);
      assertThat(send(server, "POST /login", body + TOKEN, here).status()).isEqualTo(303);
    }
  }

  @Test
  void a_form_needs_the_token_of_its_session() throws Exception {
    String cookie = "Cookie: " + page(open, "/queues").cookie();
    String other = page(open, "/login").formToken();

    assertThat(send(open, "POST /logout", "a=b", cookie).status()).isEqualTo(403);
    assertThat(send(open, "POST /logout", "form_token=" + other, cookie).status()).isEqualTo(403);
    assertThat(
            send(open, "POST /logout", "form_token=x", cookie, "Sec-Fetch-Site: cross-site")
                .status())
        .isEqualTo(403);
  }

  @ParameterizedTest
  @CsvSource({
    "cross-site, no-cors, image, 403",
    "cross-site, no-cors, script, 403",
    "same-site, cors, empty, 403",
    "cross-site, navigate, iframe, 403",
    "cross-site, navigate, document, 200",
    "same-origin, cors, empty, 200",
    "none, navigate, document, 200"
  })
  void another_site_may_link_to_a_page_and_not_embed_it(
      String site, String mode, String destination, int status) throws Exception {
    Answer answer =
        page(
            open,
            "/queues",
            "Sec-Fetch-Site: " + site,
            "Sec-Fetch-Mode: " + mode,
            "Sec-Fetch-Dest: " + destination);

    assertThat(answer.status()).isEqualTo(status);
  }

  @Test
  void an_unknown_page_and_an_unknown_namespace_are_explained() throws Exception {
    Answer page = page(open, "/nothing<script>");
    Answer namespace = page(open, "/queues?namespace=%3Cscript%3E");

    assertThat(page.status()).isIn(400, 404);
    assertThat(namespace.status()).isEqualTo(404);
    assertThat(namespace.text()).contains("&lt;script").doesNotContain("<script>");
  }

  @Test
  void a_server_with_live_pages_stops_at_once() throws Exception {
    TestServer server = TestServer.start();
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.server().httpPort())) {
      String request = "GET /live/queues HTTP/1.1\r\nHost: localhost\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      assertThat(lines.readLine()).contains("200");
      assertThat(lines.lines().filter(line -> line.startsWith("data: ")).findFirst()).isPresent();

      assertTimeout(Duration.ofSeconds(5), server::close);

      socket.setSoTimeout(5_000);
      assertThat(lines.lines().count()).isNotNegative();
    }
  }
}
