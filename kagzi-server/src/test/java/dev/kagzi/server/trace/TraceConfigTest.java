package dev.kagzi.server.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceConfigTest {
  @Test
  void headers_are_separated_by_commas_and_may_contain_equals_signs() {
    TraceConfig config =
        TraceConfig.read("https://collector:4317", "authorization=Bearer a==, tenant=acme");

    assertThat(config.endpoint()).isEqualTo("https://collector:4317");
    assertThat(config.headers()).isEqualTo(Map.of("authorization", "Bearer a==", "tenant", "acme"));
  }

  @Test
  void nothing_is_exported_without_an_endpoint() {
    assertThat(TraceConfig.read("", "")).isEqualTo(TraceConfig.OFF);
    assertThat(ServerTracing.open(TraceConfig.OFF, "1")).isSameAs(ServerTracing.OFF);
  }

  @ParameterizedTest
  @ValueSource(strings = {"localhost:4317", "ftp://localhost", "http://", "http://a b"})
  void an_endpoint_that_is_no_http_address_is_refused(String endpoint) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TraceConfig.read(endpoint, ""))
        .withMessage(
            "otlp-endpoint: " + endpoint + " (expected: http://host:4317 or https://host:4317)");
  }

  @Test
  void values_of_headers_are_not_shown() {
    assertThat(TraceConfig.read("http://localhost:4317", "authorization=secret").toString())
        .contains("authorization")
        .doesNotContain("secret");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TraceConfig.read("http://localhost:4317", "secret"))
        .withMessageContaining("expected: name=value")
        .withMessageNotContaining("secret");
  }
}
