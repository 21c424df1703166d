package dev.kagzi.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.EmbeddedPostgres;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Separate from {@link MainTest}, so that both can run in parallel. */
class LatenciesTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final CommandLine bench =
      Main.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));

  @Test
  void latencies_are_printed_with_their_targets() throws Exception {
    try (EmbeddedPostgres postgres = EmbeddedPostgres.builder().ephemeral().start()) {

      int exitCode =
          bench.execute(
              "--scenario=latencies", "--runs=20", "--json", "--db-url", MainTest.url(postgres));

      assertThat(exitCode).as(err.toString()).isZero();
      JsonNode figures = JsonMapper.shared().readTree(out.toString());
      assertThat(figures.propertyNames())
          .containsExactly(
              "scenario",
              "start",
              "poll",
              "cached step, BeginStep",
              "heartbeat",
              "health check",
              "cached step, replay of the SDK",
              "parallel overhead, 1",
              "parallel overhead, 10",
              "parallel overhead, 100",
              "parallel overhead, 1000");
      assertThat(figures.get("start").get("p50").asDouble()).isPositive();
      assertThat(figures.get("start").get("p99").asDouble())
          .isGreaterThanOrEqualTo(figures.get("start").get("p50").asDouble());
      assertThat(figures.get("cached step, replay of the SDK").get("p50").asDouble())
          .isGreaterThanOrEqualTo(0);
      assertThat(figures.get("parallel overhead, 1000").get("p50").asDouble()).isPositive();
      assertThat(targets(figures))
          .containsExactly(10.0, 20.0, 1.0, 1.0, 2.0, 1.0, 10.0, 10.0, 10.0, 10.0);
      assertThat(MainTest.databases(postgres)).isZero();
    }
  }

  private static List<Double> targets(JsonNode figures) {
    return figures
        .valueStream()
        .filter(JsonNode::isObject)
        .map(each -> each.get("target").asDouble())
        .toList();
  }
}
