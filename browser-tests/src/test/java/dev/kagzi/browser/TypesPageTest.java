package dev.kagzi.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.kagzi.sdk.Worker;
import dev.kagzi.sdk.WorkflowType;
import org.junit.jupiter.api.Test;

@SuppressWarnings("try") // the workers work while they are open
class TypesPageTest extends BrowserTest {

  private static WorkflowType<String, String> type(String name) {
    return WorkflowType.of(name, String.class, String.class).queue("orders");
  }

  private static Locator row(Page page, String name) {
    return page.getByRole(AriaRole.ROW, new Page.GetByRoleOptions().setName(name));
  }

  /** Returns a row of the table of one type's versions. */
  private static Locator version(Page page, String name) {
    return page.getByRole(
            AriaRole.REGION, new Page.GetByRoleOptions().setName("Versions").setExact(true))
        .getByRole(AriaRole.ROW, new Locator.GetByRoleOptions().setName(name));
  }

  private static void press(Locator place, String button) {
    place
        .getByRole(AriaRole.BUTTON, new Locator.GetByRoleOptions().setName(button).setExact(true))
        .click();
  }

  @TestInLooks
  void the_list_shows_open_runs_by_version_and_who_serves_them(Look look) {
    String name = "<b>order</b> " + look;
    kagzi.workflow(type(name).version("v1")).start("lamp");
    kagzi.workflow(type(name).version("v1")).start("desk");
    try (Worker worker =
        kagzi.worker().workflow(type(name).version("v2"), (ctx, input) -> input).start()) {
      Page page = open(look, "/types");

      assertThat(row(page, name)).containsText("version v1: 2 runs");
      assertThat(row(page, name)).containsText("version v2");
      check(page, look, "types");
      row(page, name).getByText("version v1").click();
      assertThat(page.locator("tbody tr")).hasCount(2);
    }
  }

  @TestInLooks
  void the_default_version_is_set_after_a_question(Look look) {
    String name = "order " + look;
    kagzi.workflow(type(name).version("v1")).start("lamp");
    try (Worker worker =
        kagzi.worker().workflow(type(name).version("v2"), (ctx, input) -> input).start()) {
      Page page = open(look, "/types");
      page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName(name)).click();
      assertThat(version(page, "v1")).containsText("none");

      press(version(page, "v2"), "Make it the default");
      assertThat(page.getByText("Make v2 the default version of " + name)).isVisible();
      assertThat(version(page, "v2")).containsText("1 online worker serves it.");
      check(page, look, "type");
      press(version(page, "v2"), "Make it the default version");

      assertThat(page.getByText("The default version is now v2; it was no version.")).isVisible();
      assertThat(version(page, "v2")).containsText("default");
      assertThat(kagzi.workflow(type(name)).start("cup").result()).isEqualTo("cup");
    }
  }

  @Test
  void a_version_that_nobody_serves_yet_can_be_the_default() {
    kagzi.workflow(type("later")).start("lamp");
    Page page = openWithoutScripts(Look.LIGHT_WIDE, "/types/type?type=later");

    page.locator("#f-version").fill("2027\"<b>");
    page.getByRole(
            AriaRole.BUTTON,
            new Page.GetByRoleOptions().setName("Make it the default version").setExact(true))
        .last()
        .click();
    assertThat(page.getByRole(AriaRole.ALERT))
        .containsText("Make 2027\"<b> the default version of later?");
    assertThat(page.getByRole(AriaRole.ALERT)).containsText("No online worker serves it");
    assertThat(version(page, "2027\"<b>")).hasCount(0);
    page.getByRole(
            AriaRole.BUTTON,
            new Page.GetByRoleOptions().setName("Make 2027\"<b> the default version"))
        .click();

    assertThat(version(page, "2027\"<b>")).containsText("default");
    assertThat(kagzi.get(kagzi.workflow(type("later")).start("cup").runId()).version())
        .isEqualTo("2027\"<b>");
  }
}
