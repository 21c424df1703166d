package dev.kagzi.browser;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.Cookie;
import com.microsoft.playwright.options.SameSiteAttribute;
import dev.kagzi.server.KagziServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway.Init")
class LoginPageTest extends BrowserTest {
  private static final String TOKEN = "correct-horse-battery";

  private static KagziServer guarded;

  @BeforeAll
  static void startGuarded() {
    guarded = startServer(config -> config.token(TOKEN));
  }

  @AfterAll
  static void closeGuarded() {
    if (guarded != null) {
      guarded.close();
    }
  }

  private static void enter(Page page, String token) {
    page.getByLabel("The server's token").fill(token);
    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Log in")).click();
  }

  @TestInLooks
  void the_token_leads_to_the_page_that_was_asked_for(Look look) {
    Page page = open(look, url(guarded, "/runs?type=a%26b"));
    assertThat(page).hasTitle("Log in · Kagzi");
    check(page, look, "login");

    enter(page, TOKEN);

    assertThat(page).hasURL(url(guarded, "/runs?type=a%26b"));
    Cookie session =
        page.context().cookies().stream()
            .filter(cookie -> cookie.name.startsWith("kagzi-session"))
            .findFirst()
            .orElseThrow();
    assertThat(session.httpOnly).isTrue();
    assertThat(session.sameSite).isEqualTo(SameSiteAttribute.LAX);
    assertThat(session.value).doesNotContain(TOKEN);
  }

  @Test
  void a_wrong_token_is_refused_and_a_logout_asks_again() {
    Page page = open(Look.LIGHT_WIDE, url(guarded, "/"));
    enter(page, "wrong");
    assertThat(page.locator(".flash.error")).hasText("This is not the server's token.");
    expectErrors();
    enter(page, TOKEN);
    assertThat(page).hasTitle("Overview · Kagzi");

    page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Log out")).click();
    assertThat(page).hasTitle("Log in · Kagzi");
    page.navigate(url(guarded, "/queues"));
    assertThat(page).hasTitle("Log in · Kagzi");
  }

  @Test
  void a_live_page_ends_with_its_session() {
    Page page = open(Look.LIGHT_WIDE, url(guarded, "/"));
    enter(page, TOKEN);
    assertThat(page.locator("#live-state")).hasText("Live");
    Page other = page.context().newPage();
    other.navigate(url(guarded, "/queues"));

    other.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Log out")).click();

    assertThat(page.locator("#live-state"))
        .containsText(
            "Not live",
            new LocatorAssertions.ContainsTextOptions().setTimeout((double) SOON.toMillis()));
    // A browser reconnects some seconds later, and then logs that it is refused.
    ignoreErrors();
  }
}
