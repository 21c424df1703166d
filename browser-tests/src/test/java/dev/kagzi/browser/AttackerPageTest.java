package dev.kagzi.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.Response;
import com.sun.net.httpserver.HttpServer;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.WorkflowType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
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
      byte[] page = ("<!doctype html>" + body).getBytes(StandardCharsets.UTF_8);
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
  void names_and_payloads_full_of_markup_are_text() {
    WorkflowType<String, String> hostile =
        WorkflowType.of(MARKUP, String.class, String.class).queue(MARKUP);
    kagzi.workflow(hostile).id(MARKUP).start(MARKUP);
    List<String> dialogs = new CopyOnWriteArrayList<>();
    Page page = window(Look.LIGHT_WIDE, true);
    page.onDialog(
        dialog -> {
          dialogs.add(dialog.message());
          dialog.dismiss();
        });

    page.navigate(url("/runs"));
    assertThat(page.locator("tbody")).containsText(MARKUP);
    page.getByLabel("Type").fill(MARKUP);
    page.getByText("Filter", new Page.GetByTextOptions().setExact(true)).click();
    assertThat(page.locator("tbody tr")).hasCount(1);
    assertThat(page.getByLabel("Type")).hasValue(MARKUP);
    page.navigate(url("/queues"));
    assertThat(page.locator("tbody")).containsText(MARKUP);
    page.navigate(url("/"));
    assertThat(page.locator("main")).containsText(MARKUP);
    assertThat(page.locator("#live-state")).hasText("Live");

    assertThat(dialogs).isEmpty();
    assertThat((Integer) page.evaluate("document.querySelectorAll('main img, main script').length"))
        .isZero();
  }
}
