package dev.kagzi.server.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.server.ServerConfig;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StrangeSettingsTest {
  private static final List<String> VALUES =
      List.of(
          " ",
          "\u0000",
          "\ud800",
          "\n",
          "-1",
          "0",
          "1",
          "NaN",
          "Infinity",
          "1e400",
          "99999999999999999999",
          "-9223372036854775808",
          "9223372036854775807d",
          "999999999999GiB",
          "x".repeat(100_000),
          "true",
          "/no/such/file",
          "jdbc:mysql://x/y",
          "postgres://[::1",
          "${env}");

  @ParameterizedTest
  @EnumSource(ServerOption.class)
  void invalid_values_are_refused_in_one_line_that_names_the_option_or_accepted(
      ServerOption option) {
    for (String value : VALUES) {
      try {
        ServerConfig.Builder builder =
            ServerConfig.builder(
                Settings.of(Settings.Sources.environment(Map.of(option.variable(), value))));
        if (option != ServerOption.DB_URL) {
          builder.dbUrl("jdbc:postgresql://127.0.0.1/none");
        }
        builder.build();
      } catch (SettingsException | IllegalArgumentException refused) {
        assertThat(refused.getMessage())
            .contains("(expected: ")
            .containsAnyOf(option.variable(), option.key(), option.flag().orElse(option.key()))
            .hasSizeLessThan(1_500)
            .doesNotContain("\n", "\u0000");
      }
    }
  }
}
