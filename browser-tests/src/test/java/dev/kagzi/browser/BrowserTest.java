package dev.kagzi.browser;

import static org.assertj.core.api.Assertions.assertThat;

import com.deque.html.axecore.playwright.AxeBuilder;
import com.deque.html.axecore.results.Rule;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import dev.kagzi.engine.EngineConfig;
import dev.kagzi.postgres.EmbeddedPostgres;
import dev.kagzi.postgres.SharedPostgres;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.server.KagziServer;
import dev.kagzi.server.ServerConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A browser for all tests, and a server on a database of its own for each test class. After each
 * test, no page may have logged an error: a blocked script or style is one.
 */
@ExtendWith(OneChromium.class)
@SuppressWarnings("NullAway.Init")
abstract class BrowserTest {
  static final Duration SOON = Duration.ofSeconds(30);

  // What the last hour shows is counted every fifth time.
  private static final Duration INTERVAL = Duration.ofMillis(200);

  private static final Set<String> FAULTS = Set.of("serious", "critical");

  private static Chromium chromium;
  static KagziServer server;
  static Kagzi kagzi;

  private final List<BrowserContext> contexts = new ArrayList<>();
  private final List<String> errors = new ArrayList<>();
  private boolean ignoresErrors;

  static void useBrowser(Chromium opened) {
    chromium = opened;
  }

  @BeforeAll
  static void startServer() {
    server = startServer(config -> config);
    kagzi = Kagzi.connect("127.0.0.1:" + server.grpcPort());
  }

  /** Starts a server on a new database. */
  static KagziServer startServer(UnaryOperator<ServerConfig.Builder> settings) {
    EmbeddedPostgres postgres = SharedPostgres.server();
    return KagziServer.start(
        settings
            .apply(
                ServerConfig.builder()
                    .dbUrl(postgres.jdbcUrl(SharedPostgres.createDatabase()))
                    .dbUser(postgres.user())
                    .dbPassword(postgres.password())
                    .unsafeDatabase()
                    .grpcPort(0)
                    .httpPort(0)
                    .engine(EngineConfig.defaults().withCoordinatorInterval(INTERVAL)))
            .build());
  }

  @AfterAll
  static void stopServer() {
    if (kagzi != null) {
      kagzi.close();
    }
    if (server != null) {
      server.close();
    }
  }

  @AfterEach
  void nothing_was_logged_as_an_error() {
    contexts.forEach(BrowserContext::close);
    assertThat(ignoresErrors ? List.of() : errors).isEmpty();
  }

  /** Waits until a run has a status. */
  static void await(RunHandle<?> run, RunStatus status) {
    Awaitility.await().atMost(SOON).until(() -> run.status() == status);
  }

  static String url(String path) {
    return url(server, path);
  }

  static String url(KagziServer of, String path) {
    return "http://127.0.0.1:" + of.httpPort() + path;
  }

  /** Opens a page in a new browser window, without cookies. */
  Page open(Look look, String path) {
    Page page = window(look, true);
    page.navigate(path.startsWith("/") ? url(path) : path);
    return page;
  }

  /** Like {@link #open}, with JavaScript turned off. */
  Page openWithoutScripts(Look look, String path) {
    Page page = window(look, false);
    page.navigate(url(path));
    return page;
  }

  Page window(Look look, boolean scripts) {
    BrowserContext context =
        chromium.browser().newContext(look.options().setJavaScriptEnabled(scripts));
    contexts.add(context);
    Page page = context.newPage();
    page.onConsoleMessage(
        message -> {
          if (message.type().equals("error")) {
            errors.add(page.url() + ": " + message.text());
          }
        });
    page.onPageError(error -> errors.add(page.url() + ": " + error));
    return page;
  }

  /** Forgets errors that the test expects, for example of a refused request. */
  void expectErrors() {
    assertThat(errors).isNotEmpty();
    errors.clear();
  }

  /** Ignores all errors of this test: a browser logs some of them only later. */
  void ignoreErrors() {
    ignoresErrors = true;
  }

  /**
   * Asserts that the page is not wider than the window and, in some looks, that it has no serious
   * accessibility fault. Stores screenshots in {@code target/screenshots}, in light and dark.
   */
  void check(Page page, Look look, String name) {
    shoot(page, look.inOtherColors(), name);
    shoot(page, look, name);
    Object overflow =
        page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assertThat(((Number) overflow).intValue()).as(name + " is too wide").isLessThanOrEqualTo(0);
    if (look.isExamined()) {
      assertThat(faults(page)).as(name + " " + look).isEmpty();
    }
  }

  private static void shoot(Page page, Look look, String name) {
    page.emulateMedia(new Page.EmulateMediaOptions().setColorScheme(look.colors()));
    page.screenshot(
        new Page.ScreenshotOptions()
            .setFullPage(true)
            .setPath(Path.of("target", "screenshots", name + "-" + look.fileName() + ".png")));
  }

  private static List<String> faults(Page page) {
    // The other mode opens another page for frames, and there are none.
    return new AxeBuilder(page)
        .setLegacyMode(true).analyze().getViolations().stream()
            .filter(rule -> FAULTS.contains(String.valueOf(rule.getImpact())))
            .map(BrowserTest::text)
            .toList();
  }

  private static String text(Rule rule) {
    List<String> places =
        rule.getNodes().stream().map(node -> node.getTarget() + " " + node.getHtml()).toList();
    return String.format(Locale.ROOT, "%s: %s at %s", rule.getId(), rule.getHelp(), places);
  }
}
