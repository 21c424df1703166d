package dev.kagzi.server.callback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.value.Payload;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunId;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;

class CallbackTokensTest {
  private static final String OLD = "the old key has more than 32 characters";
  private static final String NEW = "the new key has more than 32 characters";
  private static final URI URL = URI.create("https://kagzi.example.com/");

  private static final CallbackId ID = new CallbackId("größe", RunId.next(), "race[a]/payment#2");

  private static String token(String url) {
    return url.substring(url.lastIndexOf('/') + 1);
  }

  private static CallbackUrls urls(String keys) {
    return new CallbackUrls(CallbackKeys.parse(keys), URL);
  }

  private static CallbackTokens tokens(String keys) {
    return new CallbackTokens(CallbackKeys.parse(keys));
  }

  @Test
  void a_token_names_its_callback_and_fits_into_a_url() {
    String url = urls(OLD).url(ID, urls(OLD).stored());

    assertThat(url).startsWith("https://kagzi.example.com/callbacks/");
    assertThat(token(url)).matches("[A-Za-z0-9_.-]+");
    assertThat(tokens(OLD).read(token(url))).contains(ID);
  }

  @Test
  void a_changed_token_and_one_of_another_key_are_wrong() {
    String token = token(urls(OLD).url(ID, urls(OLD).stored()));
    for (int i = 0; i < token.length(); i++) {
      char other = token.charAt(i) == 'A' ? 'B' : 'A';
      String changed = token.substring(0, i) + other + token.substring(i + 1);
      // The last character of a Base64 text has bits that mean nothing.
      if (i != token.length() - 1 && i != token.indexOf('.') - 1) {
        assertThat(tokens(OLD).read(changed)).as(changed).isEmpty();
      }
    }

    assertThat(tokens(NEW).read(token)).isEmpty();
    for (String wrong : List.of("", ".", "x", "x.y", "é.é", "A".repeat(10_000), token + "AA")) {
      assertThat(tokens(OLD).read(wrong)).as(wrong).isEmpty();
    }
    assertThat(new CallbackTokens(CallbackKeys.none()).read(token)).isEmpty();
  }

  @Test
  void both_keys_are_valid_while_the_key_is_rotated_and_urls_stay_the_same() {
    Payload stored = urls(OLD).stored();
    String url = urls(OLD).url(ID, stored);
    String rotated = NEW + ", " + OLD;

    assertThat(urls(rotated).url(ID, stored)).isEqualTo(url);
    assertThat(tokens(rotated).read(token(url))).contains(ID);
    String newUrl = urls(rotated).url(ID, urls(rotated).stored());
    assertThat(newUrl).isNotEqualTo(url);
    assertThat(tokens(NEW).read(token(newUrl))).contains(ID);
    assertThat(urls(NEW).url(ID, stored)).as("after the rotation").isEqualTo(newUrl);
  }

  @Test
  void what_is_stored_has_no_secret() {
    Payload stored = urls(OLD).stored();

    assertThat(stored.data()).isEmpty();
    assertThat(stored.metadata())
        .containsOnlyKeys("kagzi.public-url", "kagzi.callback-key")
        .containsEntry("kagzi.public-url", "https://kagzi.example.com");
    assertThat(stored.metadata().get("kagzi.callback-key")).matches("[0-9a-f]{8}");
    assertThat(CallbackKeys.parse(OLD).toString()).isEqualTo("1 keys (hidden)");
  }

  @Test
  void without_a_url_or_a_key_the_refusal_says_what_to_set() {
    assertThatThrownBy(() -> new CallbackUrls(CallbackKeys.parse(OLD), null).stored())
        .isInstanceOfSatisfying(
            Refusal.class,
            refusal -> assertThat(refusal.code()).isEqualTo(Refusal.Code.CALLBACKS_OFF))
        .hasMessageContaining("public-url: none (expected: the URL by which outside systems");
    assertThatThrownBy(() -> new CallbackUrls(CallbackKeys.none(), URL).stored())
        .isInstanceOf(Refusal.class)
        .hasMessageContaining("KAGZI_CALLBACK_KEYS=$(openssl rand -hex 32)");
    assertThat(new CallbackUrls(CallbackKeys.none(), URL).url(ID, Payload.EMPTY)).isEmpty();
  }

  @Test
  void keys_are_long_and_at_most_two_and_not_in_the_error() {
    for (String wrong : List.of("short", OLD + ",short", OLD + "," + NEW + "," + OLD, OLD + ",")) {
      assertThatThrownBy(() -> CallbackKeys.parse(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("callback-keys: ")
          .hasMessageNotContainingAny("short,", OLD, NEW);
    }
  }
}
