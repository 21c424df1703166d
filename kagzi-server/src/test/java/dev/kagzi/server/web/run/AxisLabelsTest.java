package dev.kagzi.server.web.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AxisLabelsTest {

  @ParameterizedTest
  @CsvSource({
    "0|250|2500, 0 ms|250 ms|2.5 s",
    "59960|754000, 59 s|12 min 34 s",
    "3600000|45240000, 1 h|12 h 34 min",
    "45240000|45247300, 12 h 34 min|12 h 34 min 7 s",
    "90000000|90061000, 1 d 1 h|1 d 1 h 1 min 1 s",
    "12000|12400|12900, 12.0 s|12.4 s|12.9 s",
    "3150|3160|3170, 3.150 s|3.160 s|3.170 s",
    "4|5000|5010, 4 ms|5.000 s|5.010 s",
    "7|7, 7 ms|7 ms"
  })
  void labels_are_short_but_differ(String millis, String labels) {
    List<Duration> times =
        Arrays.stream(millis.split("[|]"))
            .map(ms -> Duration.ofMillis(Long.parseLong(ms)))
            .toList();

    assertThat(String.join("|", AxisLabels.of(times))).isEqualTo(labels);
  }
}
