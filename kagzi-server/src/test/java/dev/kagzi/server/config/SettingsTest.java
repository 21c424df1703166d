package dev.kagzi.server.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SettingsTest {

  @Test
  void a_flag_overrides_a_variable_overrides_a_file_overrides_a_default(@TempDir Path folder)
      throws Exception {
    Path file =
        Files.writeString(folder.resolve("kagzi.properties"), "port=3\nhost=c\nhttp-port=9\n");
    Settings settings =
        Settings.of(
            new Settings.Sources(
                Map.of(ServerOption.PORT, "1"),
                Map.of("KAGZI_SERVER_PORT", "2", "KAGZI_SERVER_HOST", "b", "KAGZI_HTTP_PORT", ""),
                ConfigFile.find(null, folder),
                Map.of(ServerOption.REFLECTION, "true")));

    assertThat(settings.get(ServerOption.PORT))
        .isEqualTo(new Setting("1", Setting.Source.FLAG, "--port"));
    assertThat(settings.get(ServerOption.HOST))
        .isEqualTo(new Setting("b", Setting.Source.ENV, "KAGZI_SERVER_HOST"));
    assertThat(settings.get(ServerOption.HTTP_PORT))
        .isEqualTo(new Setting("9", Setting.Source.FILE, file.toString()));
    assertThat(settings.get(ServerOption.REFLECTION))
        .isEqualTo(new Setting("true", Setting.Source.DEFAULT, ""));
  }

  @Test
  void a_flag_that_is_empty_is_not_set() {
    Settings settings =
        Settings.of(
            new Settings.Sources(
                Map.of(ServerOption.PORT, "", ServerOption.HOST, "", ServerOption.CRASH_LIMIT, ""),
                Map.of("KAGZI_SERVER_HOST", "b"),
                ConfigFile.none(),
                Map.of()));

    assertThat(settings.integer(ServerOption.PORT)).isEqualTo(50_051);
    assertThat(settings.integer(ServerOption.CRASH_LIMIT)).isEqualTo(10);
    assertThat(settings.get(ServerOption.HOST).source()).isEqualTo(Setting.Source.ENV);
  }

  @ParameterizedTest
  @CsvSource({"500ms, 500", "30s, 30000", "5m, 300000", "0.5h, 1800000", "1.5s, 1500", "7, 7000"})
  void durations_are_written_with_units(String text, long millis) {
    assertThat(env("KAGZI_CRASH_DELAY_MAX", "1d").time(ServerOption.CRASH_DELAY_MAX))
        .isEqualTo(Duration.ofDays(1));
    assertThat(env("KAGZI_STEP_GRACE", text).time(ServerOption.STEP_GRACE))
        .isEqualTo(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "KAGZI_SERVER_PORT | 70000 | KAGZI_SERVER_PORT: 70000 (expected: 0 to 65535)",
        "KAGZI_SERVER_PORT | many | KAGZI_SERVER_PORT: many (expected: a number, 0 to 65535)",
        "KAGZI_INSECURE | yes | KAGZI_INSECURE: yes (expected: true or false)",
        "KAGZI_RETRY_ATTEMPTS_MAX | 0 | KAGZI_RETRY_ATTEMPTS_MAX: 0 (expected: 1 to 1000000, or -1)",
        "KAGZI_RETRY_JITTER | NaN | KAGZI_RETRY_JITTER: NaN (expected: 0.0 to 1.0)",
        "KAGZI_STEP_GRACE | 2h | KAGZI_STEP_GRACE: 2h (expected: 0s to 1h)",
        "KAGZI_STEP_GRACE | 2 weeks | KAGZI_STEP_GRACE: 2 weeks (expected: such as 500ms, 30s, 5m, 2h or 7d, 0s to 1h)",
        "KAGZI_PAYLOAD_BYTES_MAX | 5MiB | KAGZI_PAYLOAD_BYTES_MAX: 5MiB (expected: 1KiB to 4MiB)",
        "KAGZI_LOG_LEVEL | LOUD | KAGZI_LOG_LEVEL: LOUD (expected: TRACE, DEBUG, INFO, WARN, ERROR)",
      })
  void a_value_out_of_its_range_is_one_line(String name, String value, String line) {
    assertThatThrownBy(() -> env(name, value))
        .isInstanceOf(SettingsException.class)
        .hasMessage(line);
  }

  @Test
  void the_default_warning_size_follows_a_lower_limit() {
    Settings settings = env("KAGZI_PAYLOAD_BYTES_MAX", "2KiB");

    assertThat(settings.number(ServerOption.PAYLOAD_BYTES_MAX)).isEqualTo(2_048);
    assertThat(settings.number(ServerOption.PAYLOAD_BYTES_WARN)).isEqualTo(2_048);
    assertThat(settings.text(ServerOption.PAYLOAD_BYTES_WARN)).isEqualTo("2KiB");
    assertThatThrownBy(
            () ->
                Settings.of(
                    Settings.Sources.environment(
                        Map.of(
                            "KAGZI_PAYLOAD_BYTES_MAX",
                            "2KiB",
                            "KAGZI_PAYLOAD_BYTES_WARN",
                            "1MiB"))))
        .isInstanceOf(SettingsException.class)
        .hasMessage(
            "KAGZI_PAYLOAD_BYTES_WARN: 1MiB (expected: at most 2KiB, which payload-bytes-max is)");
  }

  @ParameterizedTest
  @CsvSource({
    "KAGZI_SERVR_PORT, KAGZI_SERVER_PORT",
    "KAGZI_DB_URI, KAGZI_DB_URL",
    "KAGZI_ADRESS, KAGZI_ADDRESS",
    "KAGZI_FOO, one of docs/reference.md",
    "KAGZI_FAVOURITE_COLOUR, one of docs/reference.md",
    "KAGZI_SCHEDULER_PAINT, one of docs/reference.md",
    "KAGZI_SCHEDULER_INTERVAL_SECS, KAGZI_COORDINATOR_INTERVAL_SECS instead",
    "KAGZI_WATCHDOG_WORKER_STALE_THRESHOLD_SECS,"
        + " KAGZI_COORDINATOR_WORKER_STALE_THRESHOLD_SECS instead",
  })
  void an_unknown_variable_is_refused_with_a_suggestion(String name, String meant) {
    assertThatThrownBy(() -> env(name, "1"))
        .hasMessage(name + ": no such variable (expected: " + meant + ")");
  }

  @Test
  void variables_of_clients_and_of_the_launcher_are_known() {
    Settings settings =
        Settings.of(
            Settings.Sources.environment(
                Map.of(
                    "KAGZI_ADDRESS", "localhost:50051",
                    "KAGZI_NAMESPACE", "shop",
                    "KAGZI_TLS_CA", "ca.pem",
                    "KAGZI_CLIENT_TLS_KEY", "key.pem",
                    "KAGZI_JAVA_OPTS", "-Xmx1g",
                    "KAGZI_RESTART", "no",
                    "PATH", "/bin")));

    assertThat(settings.text(ServerOption.HOST)).isEqualTo("127.0.0.1");
  }

  @Test
  void variables_that_kubernetes_sets_for_a_service_named_kagzi_are_ignored() {
    Settings settings =
        Settings.of(
            Settings.Sources.environment(
                Map.of(
                    "KAGZI_SERVER_PORT", "tcp://10.0.0.7:50051",
                    "KAGZI_SERVER_SERVICE_HOST", "10.0.0.7",
                    "KAGZI_SERVER_PORT_50051_TCP_ADDR", "10.0.0.7")));

    assertThat(settings.text(ServerOption.PORT)).isEqualTo("50051");
  }

  @Test
  void an_unknown_key_is_refused_with_its_file(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("my.properties"), "htp-port=1\n");

    assertThatThrownBy(
            () ->
                Settings.of(
                    new Settings.Sources(
                        Map.of(), Map.of(), ConfigFile.find(file, folder), Map.of())))
        .hasMessage("htp-port: no such key in " + file + " (expected: http-port)");
    Files.writeString(file, "colour=1\n");
    assertThatThrownBy(
            () ->
                Settings.of(
                    new Settings.Sources(
                        Map.of(), Map.of(), ConfigFile.find(file, folder), Map.of())))
        .hasMessage("colour: no such key in " + file + " (expected: one of docs/reference.md)");
    assertThatThrownBy(() -> ConfigFile.find(folder.resolve("none"), folder))
        .hasMessageContaining("none (expected: a file");
  }

  @Test
  void contradicting_options_are_refused_with_the_name_of_the_one_that_was_set() {
    assertThatThrownBy(() -> env("KAGZI_COORDINATOR_WORKER_STALE_THRESHOLD_SECS", "2"))
        .hasMessage(
            "KAGZI_COORDINATOR_WORKER_STALE_THRESHOLD_SECS: 2 (expected: at least 3s, which"
                + " worker-heartbeat-interval is)");
    assertThatThrownBy(() -> env("KAGZI_WORKER_HEARTBEAT_INTERVAL_SECS", "20"))
        .hasMessage(
            "KAGZI_WORKER_HEARTBEAT_INTERVAL_SECS: 20 (expected: at most 10s, which"
                + " coordinator-worker-stale-threshold is)");
  }

  private static Settings env(String name, String value) {
    return Settings.of(Settings.Sources.environment(Map.of(name, value)));
  }
}
