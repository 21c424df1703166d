package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ServerConfigTest {

  @Test
  void the_defaults_listen_on_this_machine_only() {
    ServerConfig config = ServerConfig.builder().dbUrl("postgres://kagzi:secret@db/kagzi").build();

    assertThat(config.host()).isEqualTo("127.0.0.1");
    assertThat(config.grpcPort()).isEqualTo(50_051);
    assertThat(config.httpPort()).isEqualTo(8_484);
    assertThat(config.reflection()).isFalse();
    assertThat(config.database().jdbcUrl()).isEqualTo("jdbc:postgresql://db/kagzi");
    assertThat(config.database().user()).isEqualTo("kagzi");
    assertThat(config.toString()).doesNotContain("secret");
  }

  @Test
  void the_environment_says_what_it_says_and_leaves_the_rest() {
    ServerConfig config =
        ServerConfig.builder()
            .httpPort(1)
            .environment(
                Map.of(
                    "KAGZI_DB_URL", "jdbc:postgresql://db/kagzi",
                    "KAGZI_SERVER_HOST", "0.0.0.0",
                    "KAGZI_SERVER_PORT", "7000"))
            .build();

    assertThat(config.host()).isEqualTo("0.0.0.0");
    assertThat(config.grpcPort()).isEqualTo(7_000);
    assertThat(config.httpPort()).isEqualTo(1);
  }

  @Test
  void what_cannot_be_meant_is_refused_with_its_name() {
    assertThatThrownBy(() -> ServerConfig.builder().build()).hasMessageContaining("KAGZI_DB_URL");
    assertThatThrownBy(
            () -> ServerConfig.builder().environment(Map.of("KAGZI_SERVER_PORT", "many")))
        .hasMessageContaining("KAGZI_SERVER_PORT: many");
    assertThatThrownBy(
            () -> ServerConfig.builder().dbUrl("jdbc:postgresql://db/k").httpPort(70_000).build())
        .hasMessageContaining("httpPort: 70000");
    assertThatThrownBy(() -> ServerConfig.builder().dbUrl("mysql://db/k").build())
        .hasMessageContaining("mysql://db/k");
  }
}
