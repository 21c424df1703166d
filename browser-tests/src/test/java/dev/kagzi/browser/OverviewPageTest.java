package dev.kagzi.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.options.AriaRole;
import dev.kagzi.sdk.NonRetryableException;
import dev.kagzi.sdk.RunStatus;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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

  @ParameterizedTest
  @EnumSource(Look.class)
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
  void the_overview_is_shown_without_scripts() {
    Page page = openWithoutScripts(Look.LIGHT_PHONE, "/");

    assertThat(page.locator(".tiles li")).hasCount(7);
  }
}
