package dev.kagzi.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.Response;
import com.sun.net.httpserver.HttpServer;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Signal;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowContext;
import dev.kagzi.sdk.WorkflowType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What somebody can try who has a web page of their own, or who chooses names and payloads. */
class AttackerPageTest extends BrowserTest {
  private static final String MARKUP =
      "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>${7*7}{{7*7}}";

  private static final WorkflowType<String, String> PAY =
      WorkflowType.of("pay", String.class, String.class).queue("attacked");

  /** A web site on another origin, with one page. */
  private static final class OtherSite implements AutoCloseable {
    private final HttpServer site;

    OtherSite(String body) throws IOException {
      // Without an icon, the browser requests one, perhaps when the site is about to stop.
      byte[] page =
          ("<!doctype html><link rel=icon href='data:,'>" + body).getBytes(StandardCharsets.UTF_8);
      site = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      site.createContext(
          "/",
          exchange -> {
            exchange.getResponseHeaders().add("Content-Type", "text/html");
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
          });
      site.start();
    }

    String url() {
      return "http://127.0.0.1:" + site.getAddress().getPort() + "/";
    }

    @Override
    public void close() {
      site.stop(0);
    }
  }

  private static String encoded(String runId) {
    UUID id = UUID.fromString(runId);
    byte[] bytes =
        java.nio.ByteBuffer.allocate(16)
            .putLong(id.getMostSignificantBits())
            .putLong(id.getLeastSignificantBits())
            .array();
    return java.util.Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  @Test
  @SuppressWarnings("InlineFormatString")
  void a_form_of_another_site_changes_nothing() throws Exception {
    RunHandle<String> run = kagzi.workflow(PAY).start("lamp");
    String form =
        "<form method=post action='%s'><input name=action value=cancel><input name=runs value='%s'>"
            + "<button>win a prize</button></form>";
    try (OtherSite site = new OtherSite(form.formatted(url("/runs/act"), encoded(run.runId())))) {
      Page page = open(Look.LIGHT_WIDE, url("/"));
      page.navigate(site.url());

      Response response =
          page.waitForResponse(
              answer -> answer.url().contains("/runs/act"),
              () -> page.getByText("win a prize").click());

      assertThat(response.status()).isEqualTo(403);
      assertThat(run.status()).isEqualTo(RunStatus.PENDING);
      ignoreErrors();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/runs", "/queues", "/live/overview", "/metrics"})
  void a_script_of_another_site_reads_nothing(String path) throws Exception {
    try (OtherSite site = new OtherSite("<p>hello</p>")) {
      Page page = open(Look.LIGHT_WIDE, site.url());

      Object read =
          page.evaluate(
              "url => fetch(url, {credentials: 'include'}).then(r => r.text(), e => 'refused')",
              url(path));

      assertThat(read).isEqualTo("refused");
      ignoreErrors();
    }
  }

  @Test
  void a_frame_of_another_site_shows_nothing() throws Exception {
    try (OtherSite site = new OtherSite("<iframe src='" + url("/runs") + "'></iframe>")) {
      Page page = open(Look.LIGHT_WIDE, site.url());

      assertThat(page.frames())
          .filteredOn(frame -> !frame.equals(page.mainFrame()))
          .allSatisfy(frame -> assertThat(frame.content()).doesNotContain("Kagzi"));
      expectErrors();
    }
  }

  @Test
  void a_name_of_another_owner_that_resolves_to_the_server_shows_nothing() {
    Page page = window(Look.LIGHT_WIDE, true);

    Response response = page.navigate(url("/runs").replace("127.0.0.1", "attacker.example"));

    assertThat(response.status()).isEqualTo(421);
    assertThat(response.text()).startsWith("host: attacker.example (expected: ");
    ignoreErrors();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "image|url => { new Image().src = url; }",
        "script|url => { const s = document.createElement('script'); s.src = url;"
            + " document.head.append(s); }",
        "fetch|url => { fetch(url, {mode: 'no-cors', credentials: 'include'}); }",
        "post|url => { fetch(url, {mode: 'no-cors', method: 'POST', body: 'a=b'}); }",
        "beacon|url => { navigator.sendBeacon(url, new URLSearchParams('a=b')); }",
        "events|url => { new EventSource(url, {withCredentials: true}); }",
        "object|url => { const o = document.createElement('object'); o.data = url;"
            + " document.body.append(o); }"
      })
  void another_site_cannot_follow_a_live_page(String kind, String script) throws Exception {
    try (OtherSite site = new OtherSite("<p>hello</p>")) {
      Page page = open(Look.LIGHT_WIDE, site.url());

      List<String> ended = new CopyOnWriteArrayList<>();
      page.onRequestFailed(request -> ended.add(request.url()));
      page.onRequestFinished(request -> ended.add(request.url()));
      page.evaluate(script, url("/live/overview"));

      page.waitForCondition(() -> ended.contains(url("/live/overview")));
      assertThat(page.content()).as(kind).doesNotContain("Needs attention");
      ignoreErrors();
    }
  }

  @Test
  void another_site_opens_no_web_socket() throws Exception {
    try (OtherSite site = new OtherSite("<p>hello</p>")) {
      Page page = open(Look.LIGHT_WIDE, site.url());

      Object opened =
          page.evaluate(
              "url => new Promise(done => { const s = new WebSocket(url);"
                  + " s.onopen = () => done('open'); s.onerror = () => done('refused'); })",
              url("/live/overview").replace("http:", "ws:"));

      assertThat(opened).isEqualTo("refused");
      ignoreErrors();
    }
  }

  /** Without a token the key of sessions is known, and ports of one host share cookies. */
  @Test
  void a_cookie_that_another_port_has_set_permits_nothing() throws Exception {
    RunHandle<String> run = kagzi.workflow(PAY).start("lamp");
    Page own = open(Look.LIGHT_WIDE, "/runs/" + run.runId());
    String formToken = own.locator("input[name=form_token]").first().getAttribute("value");
    String form =
        "<form method=post action='%s'><input name=form_token value='%s'><button>win</button></form>"
            .formatted(url("/runs/" + run.runId() + "/cancel"), formToken);
    try (OtherSite site = new OtherSite(form)) {
      own.navigate(site.url());

      Response response =
          own.waitForResponse(
              answer -> answer.url().endsWith("/cancel"), () -> own.getByText("win").click());

      assertThat(response.status()).isEqualTo(403);
      assertThat(run.status()).isEqualTo(RunStatus.PENDING);
      ignoreErrors();
    }
  }

  @Test
  void a_window_that_another_site_opens_cannot_be_scripted() throws Exception {
    try (OtherSite site = new OtherSite("<p>hello</p>")) {
      Page page = open(Look.LIGHT_WIDE, site.url());
      page.evaluate("url => { window.other = window.open(url); }", url("/runs"));

      page.waitForFunction("() => window.other.closed");
    }
  }

  @Test
  void names_and_payloads_full_of_markup_are_text_on_every_page() {
    WorkflowType<String, String> hostile =
        WorkflowType.of(MARKUP, String.class, String.class).queue(MARKUP).version("v" + MARKUP);
    kagzi.schedule(MARKUP).workflow(hostile).cron("@yearly").input(MARKUP).createOrUpdate();
    RunHandle<String> run = kagzi.workflow(hostile).id(MARKUP).header("h", MARKUP).start(MARKUP);
    run.signal(Signal.of(MARKUP.replace("/", ""), String.class), MARKUP, MARKUP);
    List<String> dialogs = new CopyOnWriteArrayList<>();
    Page page = window(Look.LIGHT_WIDE, true);
    page.onDialog(
        dialog -> {
          dialogs.add(dialog.message());
          dialog.dismiss();
        });
    try (Worker worker =
        kagzi
            .worker(MARKUP)
            .label(MARKUP, MARKUP)
            .workflow(hostile, AttackerPageTest::failing)
            .start()) {
      await(run, RunStatus.FAILED);

      page.navigate(url("/runs/" + run.runId()));
      String step = page.locator(".timeline-names a").first().getAttribute("href");
      for (String path : pages(run.runId(), worker.workerId(), step)) {
        page.navigate(url(path));

        assertThat(page.content()).as(path).contains("alert(1)");
        assertThat(page.locator("main script, main img, main [onerror], main style")).hasCount(0);
        page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)");
      }
    }
    assertThat(dialogs).isEmpty();
  }

  private static String failing(WorkflowContext context, String input) {
    context.step(MARKUP.replace("/", "")).input(input).run(String.class, () -> input);
    throw new NonRetryableException(input);
  }

  private static List<String> pages(String run, String worker, String step) {
    String name = URLEncoder.encode(MARKUP, StandardCharsets.UTF_8);
    return List.of(
        "/",
        step,
        "/runs",
        "/runs?type=" + name + "&queue=" + name,
        "/runs?id=" + name,
        "/runs/" + run,
        "/runs/" + run + "/payloads",
        "/runs/" + run + "/signals",
        "/runs/" + run + "/signal?number=1",
        "/start?type=" + name + "&queue=" + name,
        "/start?from=" + run,
        "/schedules",
        "/schedules/" + kagzi.schedule(MARKUP).get().id(),
        "/schedules/" + kagzi.schedule(MARKUP).get().id() + "/edit",
        "/schedules/" + kagzi.schedule(MARKUP).get().id() + "/backfill",
        "/workers",
        "/workers/" + worker,
        "/queues",
        "/queues/queue?queue=" + name,
        "/types",
        "/types/type?type=" + name);
  }

  @Test
  void errors_show_what_was_asked_for_as_text() {
    String name = URLEncoder.encode(MARKUP, StandardCharsets.UTF_8);
    for (String path :
        List.of(
            "/runs?namespace=" + name,
            "/runs?status=" + name,
            "/runs?page=" + name,
            "/runs/" + name.replace("+", "%20").replace("%2F", ""),
            "/start?from=" + name,
            "/login?next=" + name)) {
      Page page = open(Look.LIGHT_WIDE, path);

      assertThat(page.locator("main script, main img, main [onerror]")).hasCount(0);
    }
    ignoreErrors();
  }
}
