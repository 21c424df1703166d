package dev.kagzi.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.server.listen.AccessToken;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class SessionsTest {
  private static final Duration HOUR = Duration.ofHours(1);

  private Instant now = Instant.parse("2026-01-01T00:00:00Z");
  private final Sessions sessions = sessions("secret");

  private Sessions sessions(String token) {
    return new Sessions(AccessToken.of(token), HOUR, () -> now);
  }

  @Test
  void every_server_with_the_token_accepts_a_session_until_it_expires() {
    String cookie = sessions.create(true);

    assertThat(sessions("secret").find(cookie))
        .hasValueSatisfying(s -> assertThat(s.isLoggedIn()).isTrue());
    assertThat(sessions("secret").cookieName(true)).isEqualTo(sessions.cookieName(true));

    now = now.plus(HOUR);
    assertThat(sessions.find(cookie)).isEmpty();
  }

  @Test
  void a_change_of_the_token_ends_the_sessions() {
    String cookie = sessions.create(true);

    assertThat(sessions("other").find(cookie)).isEmpty();
    assertThat(sessions("other").cookieName(true)).isNotEqualTo(sessions.cookieName(true));
  }

  @Test
  void a_cookie_that_was_changed_is_refused() {
    String cookie = sessions.create(false);

    for (int i = 0; i < cookie.length(); i++) {
      char other = cookie.charAt(i) == 'A' ? 'B' : 'A';
      String changed = cookie.substring(0, i) + other + cookie.substring(i + 1);
      // The last character of a part has bits that the decoder ignores.
      if (sessions.find(changed).isPresent()) {
        assertThat(sessions.find(changed).get().isLoggedIn()).isFalse();
        assertThat(i == cookie.length() - 1 || cookie.charAt(i + 1) == '.').isTrue();
      }
    }
    assertThat(sessions.find("")).isEmpty();
    assertThat(sessions.find(".")).isEmpty();
    assertThat(sessions.find("secret")).isEmpty();
    assertThat(sessions.find(cookie + "x.y")).isEmpty();
    assertThat(sessions.find(null)).isEmpty();
  }

  @Test
  void the_cookie_contains_neither_the_token_nor_its_digest() {
    assertThat(sessions.create(true))
        .doesNotContain("secret")
        .matches("[-_A-Za-z0-9]+\\.[-_A-Za-z0-9]+");
    assertThat(sessions.create(true)).isNotEqualTo(sessions.create(true));
  }

  @Test
  void a_form_belongs_to_one_session() {
    Sessions.Session one = sessions.find(sessions.create(true)).orElseThrow();
    Sessions.Session two = sessions.find(sessions.create(true)).orElseThrow();

    assertThat(sessions.acceptsForm(one, sessions.formToken(one))).isTrue();
    assertThat(sessions.acceptsForm(two, sessions.formToken(one))).isFalse();
    assertThat(sessions.acceptsForm(one, null)).isFalse();
    assertThat(sessions.acceptsForm(one, "")).isFalse();
  }
}
