package dev.kagzi.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import dev.kagzi.sdk.NamespaceInfo;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class NamespacesPageTest extends BrowserTest {

  private static void press(Page page, String button) {
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName(button).setExact(true))
        .click();
  }

  @TestInLooks
  void a_namespace_is_created_and_listed(Look look) {
    String name = "team <b>" + look;
    Page page = open(look, "/namespaces");
    page.getByRole(AriaRole.LINK, new Page.GetByRoleOptions().setName("New namespace")).click();
    page.getByLabel("Name", new Page.GetByLabelOptions().setExact(false)).first().fill(name);
    page.getByLabel("Display name").fill("Team \"A\"");
    page.getByLabel("Ended runs are kept").fill("30d");
    page.getByLabel("Description").fill("<script>alert(1)</script>");
    check(page, look, "namespace-form");

    press(page, "Create the namespace");

    assertThat(page.getByRole(AriaRole.ROW, new Page.GetByRoleOptions().setName(name)))
        .containsText("<script>alert(1)</script>");
    assertThat(kagzi.namespaces().get(name).retention()).contains(Duration.ofDays(30));
    check(page, look, "namespaces");
  }

  @Test
  void a_namespace_is_edited_disabled_and_enabled_without_scripts() {
    kagzi.namespaces().create("edited");
    Page page = openWithoutScripts(Look.LIGHT_WIDE, "/namespaces/edit?name=edited");
    page.getByLabel("Ended runs are kept").fill("forever");
    press(page, "Save");
    assertThat(page.locator(".flash")).hasText("Saved.");
    assertThat(page.getByLabel("Ended runs are kept")).hasValue("forever");

    page.getByText("Disable", new Page.GetByTextOptions().setExact(true)).click();
    assertThat(page.getByText("Disable the namespace edited?")).isVisible();
    press(page, "Disable it");
    assertThat(page.getByText("edited is disabled.")).isVisible();
    NamespaceInfo disabled = kagzi.namespaces().get("edited");
    assertThat(disabled.enabled()).isFalse();
    assertThat(disabled.retention()).contains(Duration.ZERO);

    page.getByText("Enable", new Page.GetByTextOptions().setExact(true)).click();
    press(page, "Enable it");
    assertThat(page.getByText("edited is enabled.")).isVisible();
    assertThat(kagzi.namespaces().get("edited").enabled()).isTrue();
  }

  @TestInLooks
  void a_disabled_namespace_asks_before_it_is_enabled(Look look) {
    kagzi.namespaces().create("off " + look);
    kagzi.namespaces().disable("off " + look);
    Page page = open(look, "/namespaces/edit?name=off+" + look);

    press(page, "Enable");

    assertThat(page.getByText("Runs that wait continue, and schedules catch up.")).isVisible();
    check(page, look, "namespace-enable");
  }
}
