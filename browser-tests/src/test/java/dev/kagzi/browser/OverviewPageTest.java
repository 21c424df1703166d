package dev.kagzi.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.options.AriaRole;
import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.RunHandle;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import java.time.Duration;
import org.junit.jupiter.api.Test;

@SuppressWarnings("try") // the workers work while they are open
class OverviewPageTest extends BrowserTest {
  private static final WorkflowType<String, String> PAY =
      WorkflowType.of("pay", String.class, String.class).queue("payments");
  private static final WorkflowType<String, String> REFUSE =
      WorkflowType.of("refuse", String.class, String.class).queue("payments");
  private static final WorkflowType<String, String> NOBODY =
      WorkflowType.of("nobody-serves", String.class, String.class).queue("lonely");

  private static Worker worker() {
    return kagzi
        .worker()
        .workflow(PAY, (ctx, input) -> input)
        .workflow(
            REFUSE,
            (ctx, input) -> {
              throw new NonRetryableException("no money");
            })
        .start();
  }

  private static Locator region(Page page, String name) {
    return page.getByRole(AriaRole.REGION, new Page.GetByRoleOptions().setName(name));
  }

  private static LocatorAssertions.ContainsTextOptions soon() {
    return new LocatorAssertions.ContainsTextOptions().setTimeout((double) SOON.toMillis());
  }

  @TestInLooks
  void the_overview_shows_what_happens_and_what_needs_attention(Look look) {
    try (Worker worker = worker()) {
      for (int i = 0; i < 6; i++) {
        kagzi.workflow(PAY).start("lamp").result();
        await(kagzi.workflow(REFUSE).start("lamp"), RunStatus.FAILED);
      }
      kagzi.workflow(NOBODY).start("lamp");

      Page page = open(look, "/");

      assertThat(page).hasTitle("Overview · Kagzi");
      Locator attention = page.locator(".attention");
      assertThat(attention).containsText("Queue lonely has no worker online", soon());
      assertThat(attention).containsText("Type refuse fails", soon());
      assertThat(page.locator(".tiles")).containsText("completed");
      assertThat(region(page, "Types in the last hour")).containsText("refuse", soon());
      assertThat(region(page, "Queues")).containsText("payments");
      check(page, look, "overview");
    }
  }

  @Test
  void the_overview_is_live_and_links_to_the_runs() {
    Page page = open(Look.LIGHT_WIDE, "/");
    assertThat(page.locator("#live-state")).hasText("Live");

    kagzi.workflow(NOBODY.queue("fresh")).start("lamp");

    assertThat(page.locator(".attention")).containsText("Queue fresh has no worker online");
    page.getByText("Queue fresh has no worker online").first().click();
    assertThat(page).hasTitle("Runs · Kagzi");
    assertThat(page.locator("tbody tr")).hasCount(1);
  }

  @Test
  void a_queue_with_only_overdue_sleepers_is_behind_everywhere_in_the_same_way() {
    WorkflowType<String, String> nap = PAY.queue("sleepy");
    RunHandle<String> run = kagzi.workflow(nap).start("lamp");
    try (Worker worker =
        kagzi
            .worker("sleepy")
            .workflow(
                nap,
                (ctx, input) -> {
                  ctx.sleep("nap", Duration.ofSeconds(2));
                  return input;
                })
            .start()) {
      await(run, RunStatus.SLEEPING);
    }
    Page page = open(Look.LIGHT_WIDE, "/");
    String line = "Queue sleepy has no worker online: 1 run has waited for a worker for";
    assertThat(page.locator(".attention")).containsText(line, soon());
    assertThat(page.locator(".attention")).containsText("Start a worker for this queue.");
    Locator row = region(page, "Queues").getByRole(AriaRole.ROW).filter(having("sleepy"));
    assertThat(row.locator("td").first()).hasText("1");

    page.getByText(line).click();
    assertThat(page.locator("tbody tr")).hasCount(1);
    assertThat(page.locator("tbody .status")).hasText("sleeping");
    assertThat(page.getByLabel("only waiting for a worker")).isChecked();

    page.navigate(url("/queues"));
    Locator cells = page.getByRole(AriaRole.ROW).filter(having("sleepy")).locator("td");
    assertThat(cells.nth(0)).hasText("1");
    assertThat(cells.nth(1)).containsText("s");
    assertThat(cells.nth(2)).hasText("0");
    assertThat(cells.nth(4)).hasText("1");
    run.cancel();
  }

  private static Locator.FilterOptions having(String text) {
    return new Locator.FilterOptions().setHasText(text);
  }

  @Test
  void a_disabled_namespace_says_so_on_every_page_and_does_not_blame_its_queues() {
    kagzi.namespaces().create("closed <b>");
    Page page = open(Look.LIGHT_WIDE, "/?namespace=closed+%3Cb%3E");
    assertThat(page.locator("#live-state")).hasText("Live");
    assertThat(page.locator(".disabled-namespace")).hasCount(0);

    try (Kagzi closed =
        Kagzi.builder()
            .address("127.0.0.1:" + server.grpcPort())
            .namespace("closed <b>")
            .connect()) {
      closed.workflow(NOBODY).start("lamp");
    }
    kagzi.namespaces().disable("closed <b>");

    assertThat(page.locator(".disabled-namespace"))
        .containsText("Namespace closed <b> is disabled. No run can be started in it");
    Locator attention = page.locator(".attention");
    assertThat(attention).containsText("1 run has been due for", soon());
    assertThat(attention).containsText("continues when the namespace is enabled");
    assertThat(attention).not().containsText("Queue");
    assertThat(attention.locator("a"))
        .hasAttribute("href", "/namespaces/edit?namespace=closed+%3Cb%3E&name=closed+%3Cb%3E");
    check(page, Look.LIGHT_WIDE, "overview-disabled");
    page.navigate(url("/runs?namespace=closed+%3Cb%3E"));
    assertThat(page.locator(".disabled-namespace")).isVisible();
    page.getByText("Enable it").click();
    assertThat(page.locator("h1")).containsText("closed <b>");
    assertThat(page.locator(".disabled-namespace")).hasCount(0);
  }

  @Test
  void the_overview_is_shown_without_scripts() {
    Page page = openWithoutScripts(Look.LIGHT_PHONE, "/");

    assertThat(page.locator(".tiles li")).hasCount(7);
  }
}
