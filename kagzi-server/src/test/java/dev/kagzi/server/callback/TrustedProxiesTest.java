package dev.kagzi.server.callback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class TrustedProxiesTest {
  private static final TrustedProxies PROXIES =
      TrustedProxies.parse("10.0.0.0/8, 192.168.1.7,fd00::/8, ::1");

  @Test
  void a_forwarded_address_is_believed_from_a_trusted_proxy_only() {
    assertThat(PROXIES.caller("10.1.2.3", "203.0.113.9")).isEqualTo("203.0.113.9");
    assertThat(PROXIES.caller("192.168.1.7", "203.0.113.9")).isEqualTo("203.0.113.9");
    assertThat(PROXIES.caller("fd12::1", "2001:db8::5")).isEqualTo("2001:db8::5");
    assertThat(PROXIES.caller("11.1.2.3", "203.0.113.9")).isEqualTo("11.1.2.3");
    assertThat(PROXIES.caller("192.168.1.8", "203.0.113.9")).isEqualTo("192.168.1.8");
    assertThat(PROXIES.caller("10.1.2.3", null)).isEqualTo("10.1.2.3");
    assertThat(TrustedProxies.parse("").caller("127.0.0.1", "203.0.113.9")).isEqualTo("127.0.0.1");
  }

  @Test
  void what_the_caller_wrote_before_the_proxies_is_not_believed() {
    assertThat(PROXIES.caller("10.1.2.3", "1.1.1.1, 203.0.113.9")).isEqualTo("203.0.113.9");
    assertThat(PROXIES.caller("10.1.2.3", "1.1.1.1, 203.0.113.9, 10.9.9.9"))
        .isEqualTo("203.0.113.9");
    assertThat(PROXIES.caller("10.1.2.3", "unknown")).isEqualTo("10.1.2.3");
    assertThat(PROXIES.caller("10.1.2.3", "")).isEqualTo("10.1.2.3");
  }

  @Test
  void a_wrong_range_is_named() {
    for (String wrong :
        List.of("proxy.example", "10.0.0.0/33", "10.0.0/8", "::1/129", "10.0.0.0/x", "999.1.1.1")) {
      assertThatThrownBy(() -> TrustedProxies.parse(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("trusted-proxies: " + wrong + " (expected:");
    }
  }
}
