package dev.kagzi.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The files in docs/monitoring. With CI=true, promtool must be installed. */
class MonitoringFilesTest {
  private static final Path FOLDER = Path.of("../docs/monitoring");

  private static String promtool(String... arguments) throws Exception {
    List<String> command = Stream.concat(Stream.of("promtool"), Stream.of(arguments)).toList();
    Process process;
    try {
      process =
          new ProcessBuilder(command).directory(FOLDER.toFile()).redirectErrorStream(true).start();
    } catch (IOException missing) {
      String what =
          "promtool: not installed, so the alert rules were NOT tested"
              + " (expected: Debian's package prometheus; required with CI=true)";
      assertThat(System.getenv("CI")).as(what).isNotEqualTo("true");
      System.err.println("SKIPPED: " + what);
      return abort(what);
    }
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(output).isZero();
    return output;
  }

  @Test
  void the_alert_rules_are_valid() throws Exception {
    assertThat(promtool("check", "rules", "alerts.yml")).contains("SUCCESS");
  }

  @Test
  void the_alert_rules_fire_when_they_should() throws Exception {
    assertThat(promtool("test", "rules", "alerts.test.yml")).contains("SUCCESS");
  }

  @Test
  void every_alert_is_documented_and_tested() throws Exception {
    Set<String> rules = names("- alert: (\\w+)", Files.readString(FOLDER.resolve("alerts.yml")));
    String tests = Files.readString(FOLDER.resolve("alerts.test.yml"));
    String page = Files.readString(Path.of("../docs/metrics.md"));

    assertThat(rules).isNotEmpty();
    assertThat(names("(?m)^\\| `(Kagzi\\w+)` \\|", page)).isEqualTo(rules);
    assertThat(names("alertname: (\\w+)\\n +exp_alerts:\\n", tests)).isEqualTo(rules);
  }

  @ParameterizedTest
  @ValueSource(strings = {"grafana-dashboard.json", "alerts.yml", "alerts.test.yml"})
  void every_metric_of_the_files_exists(String file) throws Exception {
    Set<String> known =
        Stream.of("Metrics of a server", "Metrics of a client and its workers")
            .flatMap(MonitoringFilesTest::metrics)
            .map(MetricsPage.Metric::name)
            .collect(Collectors.toSet());
    String text = Files.readString(FOLDER.resolve(file));

    Set<String> used =
        names("\\b((?:kagzi|jvm|process|system)_\\w+)", text).stream()
            .map(name -> name.replaceFirst("_(bucket|sum|count|max)$", ""))
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(used).isNotEmpty();
    assertThat(known).containsAll(used);
  }

  @Test
  void the_dashboard_takes_the_maximum_of_what_every_server_reports() throws Exception {
    List<String> cluster =
        Files.readAllLines(Path.of("../docs/metrics.md")).stream()
            .filter(line -> line.contains("| cluster |"))
            .map(line -> line.substring(3, line.indexOf('`', 3)))
            .toList();
    assertThat(cluster).contains("kagzi_queue_runs");

    for (String file : List.of("grafana-dashboard.json", "alerts.yml")) {
      String text = Files.readString(FOLDER.resolve(file));
      for (String name : cluster) {
        assertThat(text).as("%s", file).doesNotContainPattern("sum [^()]*\\([^()]*\\) \\(" + name);
      }
    }
  }

  private static Stream<MetricsPage.Metric> metrics(String heading) {
    try {
      return MetricsPage.under(heading).stream();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static Set<String> names(String pattern, String text) {
    return Pattern.compile(pattern)
        .matcher(text)
        .results()
        .map(found -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
