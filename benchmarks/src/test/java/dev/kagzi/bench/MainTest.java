package dev.kagzi.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.EmbeddedPostgres;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class MainTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final CommandLine bench =
      Main.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));

  @Test
  void one_scenario_prints_one_line_of_json_and_drops_its_database() throws Exception {
    try (EmbeddedPostgres postgres = EmbeddedPostgres.builder().ephemeral().start()) {

      int exitCode =
          bench.execute(
              "--scenario=w5", "--runs=50", "--in-flight=16", "--json", "--db-url", url(postgres));

      assertThat(err.toString()).contains("kagzi W5: measuring 50 runs, 16 in flight");
      assertThat(exitCode).isZero();
      assertThat(out.toString()).hasLineCount(1);
      JsonNode figures = JsonMapper.shared().readTree(out.toString());
      assertThat(figures.propertyNames())
          .containsExactly(
              "scenario",
              "system",
              "runs",
              "in_flight",
              "runs_per_s",
              "steps_per_s",
              "p50_ms",
              "p90_ms",
              "p95_ms",
              "p99_ms",
              "commits_per_run",
              "statements_per_run",
              "rpcs_per_run",
              "client_cpu",
              "server_cpu",
              "server_jit_cpu",
              "postgres_cpu");
      assertThat(figures.get("scenario").asString()).isEqualTo("W5");
      assertThat(figures.get("system").asString()).isEqualTo("kagzi");
      assertThat(figures.get("runs").asInt()).isEqualTo(50);
      assertThat(figures.get("in_flight").asInt()).isEqualTo(16);
      assertThat(figures.get("steps_per_s").asDouble()).isPositive();
      assertThat(figures.get("p99_ms").asDouble()).isPositive();
      assertThat(figures.get("statements_per_run").asDouble()).isPositive();
      assertThat(figures.get("rpcs_per_run").asDouble()).isPositive();
      assertThat(databases(postgres)).isZero();
    }
  }

  @Test
  void embedded_server_is_measured_in_the_process_of_the_application() throws Exception {
    try (EmbeddedPostgres postgres = EmbeddedPostgres.builder().ephemeral().start()) {

      int exitCode =
          bench.execute(
              "--latency",
              "--embedded",
              "--scenario=w5",
              "--runs=20",
              "--json",
              "--db-url",
              url(postgres));

      assertThat(exitCode).as(err.toString()).isZero();
      JsonNode figures = JsonMapper.shared().readTree(out.toString());
      assertThat(figures.get("system").asString()).isEqualTo("embedded");
      assertThat(figures.get("in_flight").asInt()).isOne();
      assertThat(figures.get("server_cpu").isNull()).isTrue();
      assertThat(figures.get("statements_per_run").asDouble()).isPositive();
      assertThat(figures.get("p50_ms").asDouble()).isPositive();
      assertThat(figures.get("p95_ms").asDouble())
          .isBetween(figures.get("p50_ms").asDouble(), figures.get("p99_ms").asDouble());
      assertThat(databases(postgres)).isZero();
    }
  }

  static String url(EmbeddedPostgres postgres) {
    return "postgres://%s:%s@127.0.0.1:%d/postgres"
        .formatted(postgres.user(), postgres.password(), postgres.port());
  }

  static int databases(EmbeddedPostgres postgres) throws Exception {
    try (Connection connection = postgres.connect("postgres");
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT count(*) FROM pg_database WHERE starts_with(datname, 'kagzi_bench_')")) {
      row.next();
      return row.getInt(1);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "--runs=0, --runs: 0 (expected: >= 1)",
    "--latency --in-flight=2, --in-flight: 2 (expected: none with --latency)",
    "--compare=telemetry --latency --embedded,"
        + " --compare: telemetry (expected: dbos with --embedded)",
    "--compare=dbos --scenario=schedules,"
        + " --scenario: SCHEDULES (expected: one that can be compared)",
    "--scenario=growth --latency, --scenario: GROWTH (expected: one of runs with --latency)",
    "--scenario=growth --scenario=w0, '--scenario: [GROWTH, W0] (expected: GROWTH alone)'",
    "--scenario=w0 --chart=x.svg, --chart: x.svg (expected: only with --scenario GROWTH)",
    "--scenario=w0 --fail-above=2,"
        + " '--fail-above: 2.0 (expected: >= 1, together with --scenario GROWTH)'",
    "--scenario=growth --fail-above=0.9,"
        + " '--fail-above: 0.9 (expected: >= 1, together with --scenario GROWTH)'",
    "--servers=0, --servers: 0 (expected: >= 1)",
    "--servers=2 --compare=servers, --servers: 2 (expected: none with --compare)",
    "--servers=2 --latency, --latency: with several servers (expected: --in-flight)",
    "--servers=2 --embedded, --embedded: with several servers (expected: --in-flight)",
    "--embedded --scenario=pages, --scenario: PAGES (expected: one of runs with --embedded)",
    "--servers=2 --scenario=sleep, '--scenario: SLEEP (expected: W0, W5 or W50 with servers)'",
    "--latency --embedded --scenario=latencies,"
        + " --scenario: LATENCIES (expected: one of runs with --latency)",
  })
  void invalid_arguments_are_rejected_before_anything_starts(String arguments, String message) {
    assertThat(bench.execute(arguments.split(" "))).isEqualTo(2);

    assertThat(out.toString()).isEmpty();
    assertThat(err.toString()).contains(message);
  }
}
