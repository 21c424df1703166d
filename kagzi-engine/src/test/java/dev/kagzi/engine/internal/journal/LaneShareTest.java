package dev.kagzi.engine.internal.journal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LaneShareTest {
  @ParameterizedTest
  @CsvSource({
    "2, 1, 2",
    "2, 2, 1",
    "2, 3, 1",
    "2, 10, 1",
    "4, 1, 4",
    "4, 2, 2",
    "4, 3, 1",
    "1, 3, 1",
    "3, 2, 1"
  })
  void servers_share_the_lanes_of_one(int lanes, int servers, int used) {
    LaneShare share = new LaneShare(lanes, () -> servers);

    long different = IntStream.range(0, lanes).map(share::laneFor).distinct().count();

    assertThat(different).isEqualTo(used);
    for (int lane = 0; lane < lanes; lane++) {
      assertThat(share.laneFor(share.laneFor(lane))).isEqualTo(share.laneFor(lane));
    }
  }

  @Test
  void only_with_more_servers_than_lanes_a_large_batch_is_followed_by_a_pause() {
    LaneShare two = new LaneShare(2, () -> 2);
    LaneShare share = new LaneShare(2, () -> 3);

    assertThat(two.pauseNanos(100, 4_000_000)).isZero();
    assertThat(share.pauseNanos(100, 4_000_000)).isEqualTo(2_000_000);
    assertThat(share.pauseNanos(100, 10_000_000_000L)).isEqualTo(10_000_000);
    assertThat(share.pauseNanos(7, 4_000_000)).isZero();
  }
}
