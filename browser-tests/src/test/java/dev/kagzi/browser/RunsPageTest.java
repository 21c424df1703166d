package dev.kagzi.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.BoundingBox;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("try") // the workers work while they are open
class RunsPageTest extends BrowserTest {
  /** A type of its own for each test, since they share the server. */
  private final WorkflowType<String, String> type =
      WorkflowType.of("type-" + UUID.randomUUID(), String.class, String.class).queue("quiet");

  private List<RunHandle<String>> startMany(int runs) {
    List<RunHandle<String>> started = new ArrayList<>();
    for (int i = 0; i < runs; i++) {
      started.add(kagzi.workflow(type).start("lamp " + i));
    }
    return started;
  }

  private String path(String... query) {
    return "/runs?type=" + type.name() + String.join("", query);
  }

  private static void press(Page page, String button) {
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(button)).click();
  }

  private static Locator rows(Page page) {
    return page.locator("tbody tr");
  }

  @TestInLooks
  void the_list_shows_runs_of_every_status(Look look) {
    WorkflowType<String, String> work =
        WorkflowType.of("looks-" + look, String.class, String.class).queue("looks-" + look);
    try (Worker worker =
        kagzi
            .worker()
            .workflow(
                work,
                (ctx, input) -> {
                  switch (input) {
                    case "fail" -> throw new NonRetryableException("no money");
                    case "sleep" -> ctx.sleep("long", "1h");
                    default -> {}
                  }
                  return input;
                })
            .start()) {
      kagzi.workflow(work).id("order <b>&\"1\"</b> " + look).start("done").result();
      await(kagzi.workflow(work).start("fail"), RunStatus.FAILED);
      RunHandle<String> sleeping = kagzi.workflow(work).start("sleep");
      kagzi.workflow(work.queue("elsewhere")).start("waits");
      await(sleeping, RunStatus.SLEEPING);

      Page page = open(look, "/runs?type=" + work.name());

      assertThat(rows(page)).hasCount(4);
      assertThat(page.locator("thead")).containsText("Created");
      assertThat(page.locator("thead")).not().containsText("Started");
      assertThat(page.locator("tbody")).containsText("order <b>&\"1\"</b> " + look);
      assertThat(page.locator("tbody .status"))
          .hasText(new String[] {"pending", "sleeping", "failed", "completed"});
      check(page, look, "runs");
    }
  }

  @Test
  void filters_are_in_the_url_and_survive_a_reload() {
    List<RunHandle<String>> runs = startMany(3);
    runs.getFirst().cancel();
    Page page = open(Look.LIGHT_WIDE, "/runs");

    page.getByLabel("Type").fill(type.name());
    page.getByRole(AriaRole.CHECKBOX, new Page.GetByRoleOptions().setName("pending")).check();
    press(page, "Filter");

    assertThat(rows(page)).hasCount(2);
    assertThat(page.url()).contains("status=PENDING", "type=" + type.name());
    assertThat(page.getByText("2 runs")).isVisible();
    page.reload();
    assertThat(rows(page)).hasCount(2);
    assertThat(page.getByLabel("Type")).hasValue(type.name());
  }

  @Test
  void a_run_is_found_by_its_id_and_by_its_external_id() {
    RunHandle<String> run = kagzi.workflow(type).id("order/42?&#").start("lamp");
    startMany(2);

    Page byId = open(Look.LIGHT_WIDE, "/runs?id=" + run.runId());
    assertThat(rows(byId)).hasCount(1);

    byId.getByLabel("Run id or external id").fill("order/42?&#");
    press(byId, "Filter");
    assertThat(rows(byId)).hasCount(1);
    assertThat(rows(byId)).containsText("order/42?&#");
  }

  @TestInLooks
  void a_run_of_any_namespace_is_found_from_the_top_of_every_page(Look look) {
    String namespace = "found in " + look;
    String id = "order <b>" + look;
    kagzi.namespaces().create(namespace);
    RunHandle<String> here = kagzi.workflow(type).id(id).start("lamp");
    Page page = openWithoutScripts(look, "/queues");

    page.getByLabel("Find a run", new Page.GetByLabelOptions().setExact(true)).fill(id);
    page.keyboard().press("Enter");
    assertThat(page).hasURL(url("/runs/" + here.runId()));
    assertThat(page.locator(".run-name")).hasText(id);

    try (Kagzi other =
        Kagzi.builder().address("127.0.0.1:" + server.grpcPort()).namespace(namespace).connect()) {
      other.workflow(type).id(id).start("lamp");
    }
    Page both = open(look, "/search?find=" + URLEncoder.encode(id, StandardCharsets.UTF_8));
    assertThat(rows(both)).hasCount(2);
    assertThat(both.locator("tbody")).containsText(namespace);
    check(both, look, "search");
    both.locator("tbody a").first().click();
    assertThat(both.locator(".menu summary")).containsText(namespace);
  }

  @Test
  void the_list_shows_external_ids_on_a_phone() {
    kagzi.workflow(type).id("order-1").start("lamp");
    Page page = open(Look.LIGHT_PHONE, path());

    BoundingBox link =
        page.getByText("order-1", new Page.GetByTextOptions().setExact(true)).boundingBox();
    assertThat(link.x + link.width).isLessThanOrEqualTo(page.viewportSize().width);
    check(page, Look.LIGHT_PHONE, "runs-phone");
  }

  @Test
  void a_long_list_has_pages_in_both_directions() {
    startMany(60);
    Page page = open(Look.LIGHT_WIDE, path());
    assertThat(rows(page)).hasCount(50);
    assertThat(page.getByText("60 runs")).isVisible();

    page.getByText("Next →").click();
    assertThat(rows(page)).hasCount(10);
    page.getByText("← Previous").click();
    assertThat(rows(page)).hasCount(50);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void all_runs_that_match_are_cancelled_after_a_question_with_their_exact_number(boolean scripts) {
    List<RunHandle<String>> runs = startMany(130);
    runs.getFirst().cancel();
    Page page =
        scripts ? open(Look.LIGHT_WIDE, path()) : openWithoutScripts(Look.LIGHT_WIDE, path());

    page.getByLabel("all that match").check();
    press(page, "Cancel…");
    assertThat(page.locator("h1")).hasText("Cancel 129 runs?");
    RunHandle<String> later = startMany(1).getFirst();
    if (scripts) {
      check(page, Look.LIGHT_WIDE, "runs-plan");
    }
    press(page, "Cancel 129 runs");

    assertThat(page.locator(".flash.done"))
        .hasText("Cancel: 129 done, 0 not applicable, 0 failed.");
    assertThat(runs).allMatch(run -> run.status() == RunStatus.CANCELLED);
    assertThat(later.status()).isEqualTo(RunStatus.PENDING);
  }

  @Test
  void checked_runs_are_terminated_with_a_reason_and_what_failed_is_listed() {
    List<RunHandle<String>> runs = startMany(3);
    Page page = open(Look.DARK_PHONE, path());
    page.getByLabel("Check run " + runs.get(0).runId()).check();
    page.getByLabel("Check run " + runs.get(1).runId()).check();
    press(page, "Terminate…");
    page.getByLabel("Reason").fill("wrong <price>");
    runs.get(1).cancel();

    press(page, "Terminate 2 runs");

    assertThat(page.locator(".flash.done"))
        .hasText("Terminate: 1 done, 1 not applicable, 0 failed.");
    assertThat(rows(page)).containsText("had already ended: cancelled");
    check(page, Look.DARK_PHONE, "runs-summary");
    assertThat(runs.get(0).status()).isEqualTo(RunStatus.FAILED);
    assertThat(runs.get(2).status()).isEqualTo(RunStatus.PENDING);
  }

  @Test
  void ended_runs_are_retried_and_failed_ones_are_resumed() {
    List<RunHandle<String>> runs = startMany(2);
    runs.forEach(run -> run.terminate("test"));
    Page page = open(Look.DARK_WIDE, path());
    page.getByLabel("all that match").check();
    press(page, "Retry…");
    press(page, "Retry 2 runs");
    assertThat(page.locator(".flash.done")).hasText("Retry: 2 done, 0 not applicable, 0 failed.");
    page.getByText("Back to the list").click();
    assertThat(rows(page)).hasCount(4);

    page.getByLabel("Check run " + runs.getFirst().runId()).check();
    press(page, "Resume…");
    press(page, "Resume 1 run");
    assertThat(page.locator(".flash")).containsText("1 failed");
    page.getByText("Back to the list").click();
    page.getByLabel("Check run " + runs.getFirst().runId()).check();
    press(page, "Resume…");
    page.getByLabel("also terminated runs").check();
    press(page, "Resume 1 run");
    assertThat(page.locator(".flash.done")).hasText("Resume: 1 done, 0 not applicable, 0 failed.");
  }

  @Test
  void an_action_without_runs_says_what_to_do() {
    startMany(1);
    Page page = open(Look.LIGHT_WIDE, path());

    press(page, "Cancel…");

    assertThat(page.locator(".flash.error")).containsText("at least one checked in the list");
    expectErrors();
  }

  @Test
  void a_wrong_filter_is_explained() {
    Page page = open(Look.LIGHT_WIDE, "/runs?after=soon");

    assertThat(page.locator(".flash.error")).containsText("after: soon (expected: a time in UTC");
    expectErrors();
  }
}
