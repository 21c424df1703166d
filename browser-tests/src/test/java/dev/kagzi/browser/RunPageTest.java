package dev.kagzi.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.BoundingBox;
import dev.kagzi.sdk.AesGcmTransform;
import dev.kagzi.sdk.JacksonCodec;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.Replayer;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunHistory;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

@SuppressWarnings({"try", "NullAway.Init"}) // the workers work while they are open
class RunPageTest extends BrowserTest {
  private static final WorkflowType<String, String> GREET =
      WorkflowType.of("greet", String.class, String.class).queue("greetings");
  private static final String MARKUP =
      "</title><script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp;{{x}}";

  private static Worker orders;
  private static RunHandle<Orders.Shipment> order;

  @BeforeAll
  static void processAnOrder() {
    orders = Orders.worker(kagzi);
    order = Orders.startAndCrash(kagzi);
    order.result(Orders.SOON);
  }

  @AfterAll
  static void stopWorker() {
    if (orders != null) {
      orders.close();
    }
  }

  private static String path(RunHandle<?> run) {
    return "/runs/" + run.runId();
  }

  private static Locator row(Page page, String step) {
    return page.locator("table.steps tbody tr")
        .filter(new Locator.FilterOptions().setHasText(step));
  }

  private static Locator bars(Page page, String style) {
    return page.locator("svg.timeline-picture rect.time-bar." + style);
  }

  private static BoundingBox bar(Page page, String title) {
    return bars(page, "completed")
        .filter(new Locator.FilterOptions().setHasText(title))
        .boundingBox();
  }

  private static Locator link(Page page, String name) {
    return page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(name).setExact(true));
  }

  @TestInLooks
  void an_ended_run_shows_facts_payloads_time_line_and_steps(Look look) {
    Page page = open(look, path(order));

    String name = kagzi.get(order.runId()).workflowId().orElseThrow();
    assertThat(page).hasTitle("process-order " + name + " · Kagzi");
    assertThat(page.locator(".run-title .run-name")).hasText(name);
    assertThat(page.locator(".facts")).containsText("completed");
    assertThat(page.locator(".facts")).containsText("order-");
    assertThat(page.locator("#input")).containsText("\"lamp\"");
    assertThat(page.locator("#output")).containsText("paid 4200");
    assertThat(page.locator(".timeline-names li")).hasCount(11);
    assertThat(bars(page, "failed")).hasCount(1);
    assertThat(bars(page, "retry-wait")).hasCount(1);
    assertThat(bars(page, "sleep")).hasCount(1);
    assertThat(bars(page, "child")).hasCount(1);
    assertThat(bars(page, "interrupted")).hasCount(2);
    assertThat(page.locator(".marks li")).hasCount(1);
    assertThat(page.locator(".marks")).containsText("another claim continued the run");
    assertThat(row(page, "ship")).containsText("no worker before reported a result");
    assertThat(row(page, "no paper for lamp")).containsText("wrap");
    assertThat(row(page, "label for bulb")).containsText("pack[2]/label");
    check(page, look, "run");
  }

  @Test
  void parallel_branches_overlap_in_the_time_line() {
    Page page = open(Look.LIGHT_WIDE, path(order));

    BoundingBox cable = bar(page, "pack[1]/wrap: completed");
    BoundingBox bulb = bar(page, "pack[2]/wrap: completed");

    assertThat(Math.max(cable.x, bulb.x))
        .isLessThan(Math.min(cable.x + cable.width, bulb.x + bulb.width));
  }

  @Test
  void a_child_and_its_parent_link_to_each_other() {
    Page page = open(Look.LIGHT_WIDE, path(order));

    page.locator(".child-link").click();

    assertThat(
            page.getByRole(
                AriaRole.HEADING, new Page.GetByRoleOptions().setName("pay").setExact(true)))
        .isVisible();
    assertThat(page.locator(".facts")).containsText("Parent");
    page.locator(".facts a[title='" + order.runId() + "']").click();
    assertThat(page).hasURL(url(path(order)));
  }

  @Test
  void a_step_has_a_page_with_its_attempts_error_and_stack() {
    Page page = open(Look.LIGHT_WIDE, path(order));

    row(page, "no paper for lamp").getByRole(AriaRole.LINK).first().click();

    assertThat(page.locator(".failure"))
        .containsText("java.lang.IllegalStateException: no paper for lamp");
    page.getByText("Stack", new Page.GetByTextOptions().setExact(true)).click();
    assertThat(page.locator("#error-stack")).containsText("dev.kagzi.browser.Orders.wrap");
    check(page, Look.LIGHT_WIDE, "step");
    link(page, "2").click();
    assertThat(page.locator("h1")).containsText("attempt 2");
    assertThat(page.locator(".failure")).hasCount(0);
  }

  @Test
  void the_exported_history_is_the_one_of_the_client_and_can_be_replayed() {
    Page page = open(Look.LIGHT_WIDE, path(order));

    Download file = page.waitForDownload(() -> link(page, "Export history").click());
    RunHistory history = RunHistory.read(file.path());

    assertThat(file.suggestedFilename()).isEqualTo(order.runId() + ".json");
    assertThat(history.toJson()).isEqualTo(kagzi.history(order.runId()).toJson());
    new Replayer().workflow(Orders.PROCESS, Orders::process).replay(history);
  }

  @Test
  void an_open_run_says_why_it_waits_and_is_live() {
    RunHandle<String> run = kagzi.workflow(GREET).start("Ada");
    Page page = open(Look.LIGHT_WIDE, path(run));
    String why = run.explain().causes().getFirst().text();
    assertThat(page.locator(".why")).containsText(why.substring(0, why.indexOf(" (for ")));
    assertThat(page.locator(".why")).containsText("NO_WORKER");
    assertThat(page.locator("#live-state")).hasText("Live");
    check(page, Look.LIGHT_WIDE, "run-waiting");

    try (Worker worker =
        kagzi
            .worker("greetings")
            .workflow(GREET, (ctx, name) -> ctx.step("say", String.class, () -> "hello " + name))
            .start()) {
      assertThat(page.locator(".run-why")).containsText("The run has ended");
      assertThat(page.locator(".run-facts")).containsText("completed");
      link(page, "Load it again").click();
      assertThat(page.locator("#output")).containsText("hello Ada");
    }
  }

  @Test
  void published_values_are_live() {
    RunHandle<String> run = kagzi.workflow(GREET.queue("publishing")).start("Ada");
    Page page = open(Look.LIGHT_WIDE, path(run));
    assertThat(page.locator(".published")).hasCount(0);

    try (Worker worker =
        kagzi
            .worker("publishing")
            .workflow(
                GREET,
                (ctx, name) -> {
                  ctx.publish("progress", "half");
                  ctx.sleep("long", Duration.ofHours(1));
                  return name;
                })
            .start()) {
      assertThat(page.locator(".published")).containsText("progress");
      assertThat(page.locator(".published")).containsText("half");
      check(page, Look.LIGHT_WIDE, "run-published");
    }
    run.cancel();
  }

  @TestInLooks
  void a_running_run_shows_what_it_does(Look look) {
    RunHandle<Orders.Shipment> run =
        kagzi.workflow(Orders.PROCESS).start(new Orders.Order("lamp", 1, List.of("lamp", "cable")));
    Awaitility.await().atMost(Orders.SOON).until(() -> run.explain().toString().contains("ship"));

    Page page = open(look, path(run));

    assertThat(page.locator(".why h2")).hasText("What it does");
    assertThat(bars(page, "running")).hasCount(2);
    check(page, look, "run-running");
    run.cancel();
  }

  @Test
  void a_similar_run_can_be_started() {
    Page page = open(Look.LIGHT_WIDE, path(order));

    assertThat(link(page, "Start a similar run"))
        .hasAttribute("href", "/start?from=" + order.runId());
  }

  @Test
  void markup_in_names_payloads_and_errors_is_shown_as_text() {
    WorkflowType<String, String> type =
        WorkflowType.of("<i>\"evil\"</i>", String.class, String.class).queue("<u>evil</u>");
    try (Worker worker =
        kagzi
            .worker("<u>evil</u>")
            .workflow(
                type,
                (ctx, input) -> {
                  ctx.step("<b onclick='x'>step").input(input).run(String.class, () -> input);
                  throw new NonRetryableException(input);
                })
            .start()) {
      RunHandle<String> run =
          kagzi.workflow(type).id("<s>'id'</s>").header("h", MARKUP).start(MARKUP);
      Awaitility.await().atMost(Orders.SOON).until(() -> run.status() == RunStatus.FAILED);

      for (Look look : List.of(Look.LIGHT_WIDE, Look.DARK_PHONE)) {
        Page page = open(look, path(run));
        page.onDialog(
            dialog -> {
              throw new AssertionError(dialog.message());
            });
        assertThat(page.locator("h1")).hasText("<i>\"evil\"</i>");
        assertThat(page.locator(".failure")).containsText(MARKUP);
        assertThat(page.locator("#input .json-text")).hasText("\"" + MARKUP + "\"");
        assertThat(page.locator("main script, main img, main i, main b")).hasCount(0);
        check(page, look, "run-markup");
        page.locator(".timeline-names a").first().click();
        assertThat(page.locator("h1")).hasText("<b onclick='x'>step");
      }
    }
  }

  @Test
  void an_encrypted_payload_is_labelled() {
    try (Kagzi secret =
            Kagzi.builder()
                .address("127.0.0.1:" + server.grpcPort())
                .codec(new JacksonCodec().then(new AesGcmTransform("key-2026", new byte[32])))
                .connect();
        Worker worker =
            secret
                .worker("secret")
                .workflow(
                    GREET.queue("secret"), (ctx, name) -> ctx.step("say", String.class, () -> name))
                .start()) {
      RunHandle<String> run = secret.workflow(GREET.queue("secret")).start("Ada");
      run.result(Orders.SOON);

      Page page = open(Look.LIGHT_WIDE, path(run));

      assertThat(page.locator("#input")).containsText("Encrypted with key key-2026");
      assertThat(page.locator("table.steps")).containsText("encrypted");
      check(page, Look.LIGHT_WIDE, "run-encrypted");
    }
  }

  @Test
  void large_payloads_are_shown_on_demand() {
    String large = "x".repeat(20_000) + "end";
    try (Worker worker =
        kagzi
            .worker("large")
            .workflow(
                GREET.queue("large"),
                (ctx, name) -> ctx.step("say").input(name).run(String.class, () -> name))
            .start()) {
      RunHandle<String> run = kagzi.workflow(GREET.queue("large")).start(large);
      run.result(Orders.SOON);
      Page page = open(Look.LIGHT_WIDE, path(run));
      assertThat(page.locator("main")).not().containsText("xxxend");

      row(page, "say")
          .getByRole(AriaRole.LINK, new Locator.GetByRoleOptions().setName("Show the whole Input"))
          .click();
      assertThat(page.locator("#input")).containsText("xxxend");
      assertThat(page.locator("#output")).containsText("xxxend");
      page.goBack();
      page.locator(".run-payloads a").first().click();

      assertThat(page.locator("#input")).containsText("xxxend");
    }
  }

  @Test
  void many_steps_are_shown_in_pages_the_newest_of_an_open_run_first() {
    try (Worker worker =
        kagzi
            .worker("many")
            .workflow(
                GREET.queue("many"),
                (ctx, name) -> {
                  for (int i = 1; i <= 60; i++) {
                    int number = i;
                    ctx.step("s" + i, Integer.class, () -> number);
                  }
                  ctx.sleep("long", "1h");
                  return name;
                })
            .start()) {
      RunHandle<String> run = kagzi.workflow(GREET.queue("many")).start("Ada");
      Awaitility.await().atMost(Orders.SOON).until(() -> run.status() == RunStatus.SLEEPING);

      Page page = open(Look.LIGHT_WIDE, path(run));

      assertThat(page.locator("table.steps tbody tr")).hasCount(50);
      assertThat(page.locator(".steps-head h2")).hasText("Steps 61");
      assertThat(row(page, "long")).containsText("until in 5");
      check(page, Look.LIGHT_WIDE, "run-many");
      link(page, "First steps").click();
      assertThat(page.locator("table.steps tbody tr").first()).containsText("s1");
      assertThat(page.locator("table.steps tbody tr")).hasCount(50);
      assertThat(page.locator(".timeline-names li")).hasCount(51);
      link(page, "Next →").click();
      assertThat(page.locator("table.steps tbody tr").first()).containsText("s51");
      run.cancel();
    }
  }

  @Test
  void a_run_that_does_not_exist_is_an_error_that_names_it() {
    Page page = open(Look.LIGHT_WIDE, "/runs/019f0000-0000-7000-8000-000000000000");
    assertThat(page.locator("[role=alert]")).containsText("019f0000-0000-7000-8000-000000000000");
    page.navigate(url("/runs/nonsense"));
    assertThat(page.locator("[role=alert]")).containsText("nonsense");
    expectErrors();
  }
}
