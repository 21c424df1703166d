package dev.kagzi.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ServersReportTest {

  private final StringWriter out = new StringWriter();

  @Test
  void costs_of_a_run_are_compared_with_those_of_one_server() {
    Figures one = figures(1, 1_000, 0.5, 0.1, 0.8);
    Figures three = figures(3, 500, 0.6, 0.2, 0.4);

    Map<String, Double> ratios = ServersBench.ratios(three, one);

    // Half of the cores for half of the runs per second is the same time for each run.
    assertThat(ratios)
        .containsEntry("statements_per_run", 1.2)
        .containsEntry("commits_per_run", 2.0)
        .containsEntry("server_cpu_per_run", 1.0)
        .containsEntry("postgres_cpu_per_run", null);
  }

  @Test
  void comparison_prints_each_server_and_whether_the_target_is_met() {
    Figures one = figures(1, 1_000, 0.5, 0.1, 0.8);
    Figures two = figures(2, 1_000, 0.5, 0.1, 0.8);
    Figures three = figures(3, 1_000, 0.5, 0.2, 0.8);

    new ServersReport(new PrintWriter(out), false)
        .print(List.of(compared(one, one), compared(two, one), compared(three, one)));

    assertThat(out.toString().lines().filter(line -> line.contains("target: at most")))
        .satisfiesExactly(
            line -> assertThat(line).contains("commits_per_run 1.00x").endsWith("1.3x: met)"),
            line -> assertThat(line).contains("commits_per_run 2.00x").endsWith("1.3x: MISSED)"));
    assertThat(out.toString().lines().filter(line -> line.matches(" {2}[123] .*0\\.250.*")))
        .hasSize(6);
  }

  @Test
  void slow_hand_over_misses_the_target() {
    Figures one = figures(1, 1_000, 0.5, 0.1, 0.8);
    Latency slow = new Latency("hand-over", "ms", 12, 30, ServersBench.HAND_OVER_TARGET_MS);

    new ServersReport(new PrintWriter(out), true)
        .print(
            List.of(
                new ServersBench.Compared(
                    figures(2, 1_000, 0.5, 0.1, 0.8), slow, ServersBench.ratios(one, one))));

    JsonNode line = JsonMapper.shared().readTree(out.toString());
    assertThat(line.get("hand_over_p50_ms").asDouble()).isEqualTo(12);
    assertThat(line.get("target").get("met").asBoolean()).isFalse();
    assertThat(line.get("servers")).hasSize(2);
  }

  @Test
  void processor_time_of_servers_does_not_contain_that_of_their_compilers() {
    Figures figures = figures(3, 1_000, 0.5, 0.1, 0.8);
    figures.values().put(Figures.SERVER_JIT_CPU, 0.3);

    assertThat(figures.serverMsPerRun()).isEqualTo(0.5, offset(1e-9));
  }

  private static ServersBench.Compared compared(Figures figures, Figures one) {
    return new ServersBench.Compared(figures, null, ServersBench.ratios(figures, one));
  }

  private static Figures figures(
      int servers, double runsPerS, double statements, double commits, double serverCores) {
    Map<String, Double> values = new LinkedHashMap<>();
    values.put(Figures.RUNS_PER_S, runsPerS);
    values.put(Figures.STATEMENTS_PER_RUN, statements);
    values.put(Figures.COMMITS_PER_RUN, commits);
    values.put(Figures.SERVER_CPU, serverCores);
    values.put(Figures.POSTGRES_CPU, null);
    return new Figures(
        servers + " servers",
        Scenario.W5,
        10,
        8,
        values,
        Collections.nCopies(servers, Map.of("hand_overs_per_run", 0.25)));
  }
}
