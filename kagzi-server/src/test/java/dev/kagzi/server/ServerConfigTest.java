package dev.kagzi.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.EngineConfig;
import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.server.config.ServerOption;
import dev.kagzi.server.config.Settings;
import dev.kagzi.server.listen.ListenConfig;
import java.lang.reflect.RecordComponent;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServerConfigTest {
  private static final String URL = "postgres://kagzi:secret@db/kagzi";

  @Test
  void the_defaults_listen_on_loopback_only() {
    ServerConfig config = ServerConfig.builder().dbUrl(URL).build();

    assertThat(config.listen().host()).isEqualTo("127.0.0.1");
    assertThat(config.listen().grpcPort()).isEqualTo(50_051);
    assertThat(config.listen().httpPort()).isEqualTo(8_484);
    assertThat(config.reflection()).isFalse();
    assertThat(config.migrateOnStart()).isTrue();
    assertThat(config.database().jdbcUrl()).isEqualTo("jdbc:postgresql://db/kagzi");
    assertThat(config.database().user()).isEqualTo("kagzi");
  }

  @Test
  void the_defaults_of_the_options_are_those_of_the_engine() {
    ServerConfig config = ServerConfig.builder().dbUrl(URL).build();

    assertThat(config.engine()).isEqualTo(EngineConfig.defaults());
    assertThat(config.database())
        .isEqualTo(new DatabaseConfig("jdbc:postgresql://db/kagzi", "kagzi", "secret"));
  }

  @Test
  void nothing_that_is_shown_contains_a_secret() {
    ServerConfig config =
        ServerConfig.builder().dbUrl(URL + "?sslpassword=secret").token("secret").build();

    assertThat(config.toString()).doesNotContain("secret");
  }

  /** Changes one option at a time; each must change the configuration. */
  @Test
  void everything_that_can_be_configured_has_an_option_and_every_option_does_something() {
    Map<String, Object> usual = leaves(Map.of());
    Set<String> changed = new TreeSet<>();
    for (ServerOption option : ServerOption.values()) {
      if (OptionSamples.isFile(option)
          || option == ServerOption.LOG_LEVEL
          || option == ServerOption.LOG_FORMAT) {
        continue;
      }
      Map<String, Object> other = leaves(OptionSamples.with(option));
      Set<String> here = new TreeSet<>(usual.keySet());
      here.removeIf(leaf -> other.getOrDefault(leaf, "").equals(usual.get(leaf)));

      assertThat(here).as(option.key()).hasSize(1);
      changed.addAll(here);
    }

    Set<String> untouched = new TreeSet<>(usual.keySet());
    untouched.removeAll(changed);
    // Not options: dev has local callbacks; certificates are read from files; unsafe databases are
    // for tests; server-wide
    // policies have no failure kinds; the failure listener is code.
    assertThat(untouched)
        .containsExactly(
            "callbacks.isLocal",
            "database.allowUnsafe",
            "engine.rules.defaultPolicy.nonRetryable",
            "engine.rules.defaultPolicy.retryableKinds",
            "listen.access.tls",
            "onFailure");
  }

  private static Map<String, Object> leaves(Map<String, String> environment) {
    Map<String, Object> leaves = new TreeMap<>();
    Map<String, String> all = new TreeMap<>(environment);
    all.putIfAbsent("KAGZI_DB_URL", "jdbc:postgresql://db/kagzi");
    Settings settings = Settings.of(Settings.Sources.environment(all));
    collect("", ServerConfig.builder(settings).build(), leaves);
    return leaves;
  }

  private static void collect(String path, Object value, Map<String, Object> into) {
    for (RecordComponent component : value.getClass().getRecordComponents()) {
      String name = path + component.getName();
      try {
        Object part = component.getAccessor().invoke(value);
        if (part != null && part.getClass().isRecord()) {
          collect(name + ".", part, into);
        } else {
          into.put(name, part == null ? "none" : part);
        }
      } catch (ReflectiveOperationException e) {
        throw new LinkageError(name, e);
      }
    }
  }

  @Test
  void invalid_values_are_refused_with_the_option_name() {
    assertThatThrownBy(() -> ServerConfig.builder().build())
        .hasMessage(
            "db-url: none (expected: --db-url or KAGZI_DB_URL, jdbc:postgresql://… or"
                + " postgres://…)");
    assertThatThrownBy(() -> ServerConfig.builder().dbUrl(URL).httpPort(70_000).build())
        .hasMessageContaining("http-port: 70000");
    assertThatThrownBy(() -> ServerConfig.builder().dbUrl("mysql://me:secret@db/k").build())
        .hasMessageContaining("mysql://me:(hidden)@db/k")
        .hasMessageNotContaining("secret");
    assertThatThrownBy(() -> ServerConfig.builder().dbUrl("postgres://me:sec%ret@db/k").build())
        .hasMessageContaining("%XX")
        .hasMessageNotContaining("sec%ret")
        .hasNoCause();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.0.0.0", "::", "192.168.1.7", "example.org", "127.evil.example"})
  void a_server_beyond_loopback_requires_a_token_or_insecure(String host) {
    assertThatThrownBy(() -> ServerConfig.builder().host(host).listen())
        .hasMessageStartingWith("host: " + host + " can be reached by others")
        .hasMessageContaining("--token-file")
        .hasMessageContaining("--insecure");

    assertThat(ServerConfig.builder().host(host).token("t").listen().sendsTokenUnencrypted())
        .isTrue();
    assertThat(ServerConfig.builder().host(host).insecure().listen().token()).isEmpty();
    assertThat(ServerConfig.builder().host(host).inProcessOnly().listen().grpcPort())
        .isEqualTo(ListenConfig.NONE);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"127.0.0.1", "127.0.0.53", "localhost", "::1", "[::1]", "0:0:0:0:0:0:0:1"})
  void a_server_on_loopback_requires_no_token(String host) {
    assertThat(ServerConfig.builder().host(host).listen().token()).isEmpty();
  }
}
