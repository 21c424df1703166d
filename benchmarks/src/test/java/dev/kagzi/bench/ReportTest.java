package dev.kagzi.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ReportTest {

  private final StringWriter out = new StringWriter();

  @ParameterizedTest
  @CsvSource({"W0, false, 1.5", "W5, false, 0.8", "W0, true, 1.0", "W5, true, 1.0", "W50, true,"})
  void latency_of_one_run_has_a_target(Scenario scenario, boolean embedded, Double max) {
    OptionalDouble expected = max == null ? OptionalDouble.empty() : OptionalDouble.of(max);

    assertThat(scenario.latencyRatioMax(embedded)).isEqualTo(expected);
  }

  @Test
  void comparison_prints_the_ratio_and_its_target() {
    Report report = new Report(new PrintWriter(out), false);

    report.print(figures("embedded", 2.0), figures("dbos", 2.0), OptionalDouble.of(1.0));
    report.print(figures("kagzi", 3.2), figures("dbos", 2.0), OptionalDouble.of(1.5));

    assertThat(out.toString().lines().filter(line -> line.contains("ratio")))
        .satisfiesExactly(
            line ->
                assertThat(line)
                    .contains("1.00x")
                    .endsWith("target: p50 at most 1.0x of dbos: met"),
            line ->
                assertThat(line)
                    .contains("1.60x")
                    .endsWith("target: p50 at most 1.5x of dbos: MISSED"));
  }

  @Test
  void comparison_without_a_target_prints_none() {
    new Report(new PrintWriter(out), false)
        .print(figures("kagzi", 1.0), figures("dbos", 2.0), OptionalDouble.empty());

    assertThat(out.toString()).contains("0.50x").doesNotContain("target");
  }

  @Test
  void comparison_with_telemetry_prints_the_spans() {
    Figures observed =
        new Figures(
            "observed",
            Scenario.W5,
            10,
            1,
            Map.of(Figures.SPANS_PER_RUN, 0.5, Figures.SPANS_ARRIVED_RATIO, 0.98));

    new Report(new PrintWriter(out), false)
        .print(observed, figures("plain", 2.0), OptionalDouble.empty());

    assertThat(out.toString())
        .contains("0.50 of client and worker per run, 98 % arrived at the collector");
  }

  @Test
  void target_is_a_field_of_the_json_line() {
    new Report(new PrintWriter(out), true)
        .print(figures("kagzi", 1.0), figures("dbos", 2.0), OptionalDouble.of(0.8));

    JsonNode line = JsonMapper.shared().readTree(out.toString());
    assertThat(line.get("ratios").get("p50_ms").asDouble()).isEqualTo(0.5);
    assertThat(line.get("target").get("p50_ratio_max").asDouble()).isEqualTo(0.8);
    assertThat(line.get("target").get("met").asBoolean()).isTrue();
    assertThat(line.get("dbos").get("p50_ms").asDouble()).isEqualTo(2.0);
  }

  private static Figures figures(String system, double p50Ms) {
    return new Figures(system, Scenario.W0, 10, 1, Map.of(Figures.P50_MS, p50Ms));
  }
}
