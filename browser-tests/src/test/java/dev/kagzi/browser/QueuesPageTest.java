package dev.kagzi.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@SuppressWarnings("try") // the workers work while they are open
class QueuesPageTest extends BrowserTest {
  private static final WorkflowType<String, String> PAY =
      WorkflowType.of("pay", String.class, String.class).queue("payments");
  private static final WorkflowType<String, String> SHIP =
      WorkflowType.of("ship", String.class, String.class).queue("<b>\"shipping\"</b>");

  private static Worker worker() {
    return kagzi.worker().workflow(PAY, (ctx, input) -> input).start();
  }

  private static Locator row(Page page, String queue) {
    return page.getByRole(AriaRole.ROW, new Page.GetByRoleOptions().setName(queue));
  }

  @ParameterizedTest
  @EnumSource(Look.class)
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
