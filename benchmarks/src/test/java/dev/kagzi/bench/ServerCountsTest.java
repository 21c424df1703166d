package dev.kagzi.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ServerCountsTest {

  @Test
  void counts_survive_the_way_from_the_server_process() {
    ServerCounts counts = counts(7, 3);

    assertThat(ServerCounts.decode(counts.encode())).isEqualTo(counts);
    assertThat(counts.statements()).isEqualTo(7);
  }

  @Test
  void figures_are_differences_for_each_run() {
    Map<String, Double> figures = counts(30, 12).perRun(counts(10, 2), 20);

    assertThat(figures)
        .containsEntry("statements_per_run", 1.0)
        .containsEntry("writes_per_run", 2.0)
        .containsEntry("batches_per_run", 0.5)
        .containsEntry("writes_per_batch", 4.0);
  }

  @Test
  void batch_of_a_server_without_writes_has_no_size() {
    assertThat(counts(5, 1).perRun(counts(3, 1), 10)).containsEntry("writes_per_batch", null);
  }

  private static ServerCounts counts(long statements, long batches) {
    Map<String, Long> counts = new LinkedHashMap<>();
    counts.put("statements", statements);
    counts.put("writes", batches * 4);
    counts.put("batches", batches);
    return new ServerCounts(counts);
  }
}
