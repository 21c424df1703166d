package dev.kagzi.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.options.AriaRole;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import org.junit.jupiter.api.Test;

@SuppressWarnings("try") // the workers work while they are open
class QueuesPageTest extends BrowserTest {
  private static final WorkflowType<String, String> PAY =
      WorkflowType.of("pay", String.class, String.class).queue("payments");
  private static final WorkflowType<String, String> SHIP =
      WorkflowType.of("ship", String.class, String.class).queue("<b>\"shipping\"</b>");

  private static final LocatorAssertions.HasTextOptions WITHIN_10_S =
      new LocatorAssertions.HasTextOptions().setTimeout(10_000);

  private static Worker worker() {
    return kagzi.worker().workflow(PAY, (ctx, input) -> input).start();
  }

  private static Locator row(Page page, String queue) {
    return page.getByRole(AriaRole.ROW, new Page.GetByRoleOptions().setName(queue));
  }

  @TestInLooks
  void the_list_shows_depth_and_workers_of_each_queue(Look look) {
    kagzi.workflow(SHIP).start("lamp");
    try (Worker worker = worker()) {
      Page page = open(look, "/queues");

      assertThat(page).hasTitle("Queues · Kagzi");
      assertThat(row(page, "payments")).containsText("payments");
      assertThat(row(page, "<b>\"shipping\"</b>")).containsText("none");
      check(page, look, "queues");
    }
  }

  @TestInLooks
  void one_queue_shows_who_serves_which_type_and_what_it_did(Look look) {
    String queue = "busy <b>" + look;
    WorkflowType<String, String> pay = PAY.queue(queue);
    kagzi.workflow(SHIP.queue(queue).version("v3")).start("desk");
    try (Worker worker = kagzi.worker(queue).workflow(pay, (ctx, input) -> input).start()) {
      kagzi.workflow(pay).start("lamp").result();
      Page page = open(look, "/queues");

      page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(queue)).click();

      assertThat(page).hasTitle("Queue " + queue + " · Kagzi");
      assertThat(page.getByRole(AriaRole.ROW, new Page.GetByRoleOptions().setName("ship v3")))
          .containsText("none");
      assertThat(page.getByRole(AriaRole.ROW, new Page.GetByRoleOptions().setName("pay")))
          .containsText("1");
      // Counted some seconds after the run has ended; the page is live.
      assertThat(page.locator("section:has(#hour) dd").nth(1)).hasText("1", WITHIN_10_S);
      check(page, look, "queue");
    }
  }

  @Test
  void the_list_is_live() {
    Page page = open(Look.LIGHT_WIDE, "/queues");
    assertThat(page.locator("#live-state")).hasText("Live");

    kagzi.workflow(PAY.queue("later")).start("lamp");

    assertThat(row(page, "later")).isVisible();
  }

  @Test
  void the_list_is_shown_without_scripts() {
    kagzi.workflow(PAY.queue("plain")).start("lamp");

    Page page = openWithoutScripts(Look.LIGHT_WIDE, "/queues");

    assertThat(row(page, "plain")).isVisible();
  }
}
