package dev.kagzi.engine.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.value.RunStatus;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

/** Names that callers choose become labels only up to a limit. */
class BoundedLabelsTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  @Test
  void the_first_names_keep_their_labels_and_later_ones_share_other() {
    BoundedLabels labels = new BoundedLabels("type", 2);

    assertThat(labels.of("a", "order")).isEqualTo(Tags.of("namespace", "a", "type", "order"));
    assertThat(labels.of("b", "order")).isEqualTo(Tags.of("namespace", "b", "type", "order"));
    assertThat(labels.of("a", "refund")).isEqualTo(Tags.of("namespace", "other", "type", "other"));
    assertThat(labels.of("a", "order")).isEqualTo(Tags.of("namespace", "a", "type", "order"));
  }

  @Test
  void a_million_types_make_as_many_series_as_the_limit_allows_and_lose_no_count() {
    Meters meters = new Meters(registry, 3);
    int before = registry.getMeters().size();

    for (int i = 0; i < 1_000_000; i++) {
      meters.runs().started("default", "type-" + i);
    }
    meters.runs().ended("default", "type-7", RunStatus.COMPLETED);

    // Three types and other, each with one counter of starts, four of ends, and five others.
    assertThat(registry.getMeters()).hasSize(before + 4 * 10);
    assertThat(registry.get("kagzi.runs.started").tag("type", "type-2").counter().count()).isOne();
    assertThat(registry.get("kagzi.runs.started").tag("type", "other").counter().count())
        .isEqualTo(999_997);
    assertThat(
            registry
                .get("kagzi.runs.ended")
                .tags("type", "other", "status", "completed")
                .counter()
                .count())
        .isOne();
  }
}
