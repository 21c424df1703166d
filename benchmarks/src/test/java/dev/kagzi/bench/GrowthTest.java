package dev.kagzi.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.EmbeddedPostgres;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class GrowthTest {

  @TempDir Path folder;

  @Test
  void smallest_growth_measures_every_line_and_draws_a_chart() throws Exception {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Path chart = folder.resolve("growth.svg");
    try (EmbeddedPostgres postgres = EmbeddedPostgres.builder().ephemeral().start()) {

      int exitCode =
          Main.commandLine()
              .setOut(new PrintWriter(out))
              .setErr(new PrintWriter(err))
              .execute(
                  "--scenario=growth",
                  "--runs=1000",
                  "--fail-above=1000000",
                  "--json",
                  "--chart",
                  chart.toString(),
                  "--db-url",
                  MainTest.url(postgres));

      assertThat(exitCode).as(err.toString()).isZero();
      JsonNode figures = JsonMapper.shared().readTree(out.toString());
      assertThat(figures.propertyNames())
          .containsExactly(
              "scenario",
              "ended_runs",
              "sleeping_runs",
              "pending_runs",
              "ratio_max",
              "W0",
              "W5",
              "start",
              "claim",
              "list",
              "list of failed runs",
              "stats",
              "retention",
              "P100",
              "C100",
              "256 KiB payloads",
              "resume of a long run",
              "sleeps on time, p99",
              "20 sleeps due in one second, p99",
              "20 sleeps due in one second, last",
              "burst",
              "W5, 2 workers",
              "W5, 4 workers",
              "W5, 10 queues",
              "W5, 4 namespaces",
              "W5 after a long load",
              "W5 under an old transaction",
              "idle, statements",
              "idle, cores");
      for (JsonNode line : figures) {
        if (line.has("ratio")) {
          assertThat(line.get("empty").asDouble()).isPositive();
          assertThat(line.get("grown").asDouble()).isPositive();
        }
      }
      assertThat(figures.get("sleeps on time, p99").get("grown_max").asDouble()).isEqualTo(250);
      JsonNode last = figures.get("20 sleeps due in one second, last");
      assertThat(last.get("grown_max").asDouble()).isEqualTo(1_000);
      assertThat(last.get("grown").asDouble())
          .isGreaterThanOrEqualTo(
              figures.get("20 sleeps due in one second, p99").get("grown").asDouble());
      assertThat(Files.readString(chart)).startsWith("<svg ").contains("256 KiB payloads");
      assertThat(MainTest.databases(postgres)).isZero();
    }
  }

  @Test
  void ratio_of_a_rate_and_of_a_time_is_above_one_if_growth_made_it_slower() {
    GrowthLine rate = GrowthLine.rate("rate", 200, 100);
    GrowthLine time = GrowthLine.time("time", 10, 12);

    assertThat(rate.ratio()).hasValue(2);
    assertThat(rate.isMet()).isFalse();
    assertThat(rate.missed()).isEqualTo("above 1.3");
    assertThat(time.ratio()).hasValue(1.2);
    assertThat(time.isMet()).isTrue();
  }

  @Test
  void cost_has_a_limit_and_no_ratio() {
    GrowthLine low = GrowthLine.cost("cores", "cores", 0, 0.009, 0.01);
    GrowthLine high = GrowthLine.cost("cores", "cores", 0, 0.02, 0.01);

    assertThat(low.ratio()).isEmpty();
    assertThat(low.isMet()).isTrue();
    assertThat(low.missed()).isEmpty();
    assertThat(high.missed()).isEqualTo("above 0.01");
  }

  @Test
  void line_that_exceeds_its_target_by_more_than_the_factor_is_printed_as_a_failure() {
    StringWriter err = new StringWriter();
    GrowthLine met = GrowthLine.time("met", 10, 12);
    GrowthLine missed = GrowthLine.rate("missed", 19, 10);
    GrowthLine slow = GrowthLine.rate("slow", 20, 10);
    GrowthLine broken = GrowthLine.rate("broken", 0, 0);
    GrowthLine costly = GrowthLine.cost("costly", "ms", 0, 376, 250);

    boolean fails =
        GrowthReport.printAbove(
            List.of(met, missed, slow, broken, costly), 1.5, new PrintWriter(err));

    assertThat(fails).isTrue();
    assertThat(err.toString().lines())
        .containsExactly(
            "bench: slow: 2.000 (expected: <= 1.3, and never above 1.5 times that)",
            "bench: broken: NaN (expected: <= 1.3, and never above 1.5 times that)",
            "bench: costly: 376.000 (expected: < 250.0, and never above 1.5 times that)");
    assertThat(GrowthReport.printAbove(List.of(met, missed), 1.5, new PrintWriter(err))).isFalse();
  }

  @Test
  void table_has_the_target_of_every_line() {
    StringWriter out = new StringWriter();
    GrowthReport report = new GrowthReport(new PrintWriter(out), false, new GrowthSizes(1_000));

    report.print(GrowthLine.time("time", 10, 12));
    report.print(GrowthLine.cost("sleeps", "ms", 10, 251, 250));

    assertThat(out.toString().lines())
        .satisfiesExactly(
            head -> assertThat(head).endsWith("target"),
            time -> assertThat(time.strip()).endsWith("<= 1.3"),
            cost -> assertThat(cost).endsWith("< 250.0  above 250.0"));
  }

  @Test
  void chart_escapes_names_and_marks_bars_beyond_the_limit() {
    BarChart chart = new BarChart("a < b", 1.3);
    chart.add("fast & good", 1.0, "1.00");
    chart.add("slow", 2.6, "2.60");

    String svg = chart.toSvg();

    assertThat(svg).contains("<title>a &lt; b</title>", "fast &amp; good");
    assertThat(svg.lines().filter(line -> line.startsWith("<rect")))
        .satisfiesExactly(
            good -> assertThat(good).contains("width=\"146.2\"", "#4a8f5c"),
            bad -> assertThat(bad).contains("width=\"380.0\"", "#c2553f"));
  }
}
