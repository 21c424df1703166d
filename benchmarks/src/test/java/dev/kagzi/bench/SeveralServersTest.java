package dev.kagzi.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.EmbeddedPostgres;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class SeveralServersTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private final CommandLine bench =
      Main.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));

  @Test
  void each_of_several_servers_has_a_share_of_the_runs() throws Exception {
    try (EmbeddedPostgres postgres = EmbeddedPostgres.builder().ephemeral().start()) {

      int exitCode =
          bench.execute(
              "--servers=2",
              "--scenario=w5",
              "--runs=100",
              "--in-flight=16",
              "--json",
              "--db-url",
              MainTest.url(postgres));

      assertThat(exitCode).as(err.toString()).isZero();
      JsonNode figures = JsonMapper.shared().readTree(out.toString());
      assertThat(figures.get("system").asString()).isEqualTo("2 servers");
      assertThat(figures.get("servers")).hasSize(2);
      for (JsonNode server : figures.get("servers")) {
        assertThat(server.get("writes_per_run").asDouble()).isPositive();
        assertThat(server.get("writes_per_batch").asDouble()).isGreaterThanOrEqualTo(1);
        assertThat(server.get("statements_per_run").asDouble()).isPositive();
      }
      assertThat(figures.get("hand_over_p50_ms").asDouble()).isPositive();
      assertThat(MainTest.databases(postgres)).isZero();
    }
  }
}
