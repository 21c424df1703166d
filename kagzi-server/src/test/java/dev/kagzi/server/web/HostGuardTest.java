package dev.kagzi.server.web;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.server.web.overview.AttentionLimits;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HostGuardTest {
  private final HostGuard guard =
      new HostGuard(
          "Server.internal",
          DashboardConfig.read(
              true,
              "https://kagzi.example.com",
              "one.example, TWO.example",
              Duration.ofHours(1),
              new AttentionLimits(Duration.ofMinutes(1), 10, 5, Duration.ofMillis(200))));

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "localhost:8484",
        "LOCALHOST:1",
        "127.0.0.1:8484",
        "10.1.2.3",
        "[::1]:8484",
        "server.internal:8484",
        "kagzi.example.com",
        "one.example:1",
        "two.example"
      })
  void names_of_the_server_and_addresses_are_accepted(String host) {
    assertThat(guard.refuseHost(host)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:x",
        "evil.example:8484", "localhost@evil.example", "[::1].evil.example", "one.example.", "a b"
      })
  void other_names_are_refused(String host) {
    assertThat(guard.refuseHost(host))
        .hasValueSatisfying(why -> assertThat(why).startsWith("host:"));
  }

  @ParameterizedTest
  @CsvSource({
    "http://localhost:8484, localhost:8484",
    "https://localhost:8484, localhost:8484",
    "http://one.example, one.example",
    "https://one.example, one.example",
    "http://[::1]:8484, [::1]:8484",
    "https://kagzi.example.com, 10.0.0.7:8484"
  })
  void pages_of_the_server_are_accepted(String origin, String host) {
    assertThat(guard.refuseOrigin(origin, host)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "http://localhost:3000, localhost:8484",
    "http://localhost, localhost:8484",
    "http://evil.example, localhost:8484",
    "http://localhost:8484.evil.example, localhost:8484",
    "null, localhost:8484",
    "http://kagzi.example.com, 10.0.0.7:8484",
    "https://kagzi.example.com:444, 10.0.0.7:8484",
    "file://, localhost:8484",
    "http://a b, localhost:8484"
  })
  void pages_of_other_sites_are_refused(String origin, String host) {
    assertThat(guard.refuseOrigin(origin, host)).isPresent();
  }

  @Test
  void a_request_that_names_no_origin_is_accepted() {
    assertThat(guard.refuseOrigin(null, "localhost:8484")).isEmpty();
    assertThat(guard.refuseHost(null)).isPresent();
  }
}
