package dev.kagzi.engine.query;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.value.RunStatus;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RunFilterTest {
  @Test
  void equal_filters_have_equal_texts_in_any_order_of_their_parts() {
    RunFilter one = filter(EnumSet.of(RunStatus.FAILED, RunStatus.PENDING, RunStatus.RUNNING));
    RunFilter other = filter(Set.of(RunStatus.RUNNING, RunStatus.PENDING, RunStatus.FAILED));

    assertThat(one).hasToString(other.toString()).isEqualTo(other);
    assertThat(filter(Set.of())).doesNotHaveToString(one.toString());
  }

  private static RunFilter filter(Set<RunStatus> statuses) {
    return new RunFilter(
        "default", statuses, null, null, null, null, null, null, null, null, false, false);
  }
}
