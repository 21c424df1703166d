package dev.kagzi.server.web.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kagzi.server.web.run.TimeScale.Span;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class TimeScaleTest {
  private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");
  private static final Offset<Double> CLOSE = within(0.001);

  private static Instant at(double seconds) {
    return START.plusMillis(Math.round(seconds * 1_000));
  }

  private static Span span(double from, double to) {
    return new Span(at(from), at(to));
  }

  @Test
  void a_time_without_long_waits_is_linear() {
    TimeScale scale = new TimeScale(span(0, 10), List.of(span(0, 10)));

    assertThat(scale.at(at(0))).isZero();
    assertThat(scale.at(at(2.5))).isEqualTo(25, CLOSE);
    assertThat(scale.at(at(10))).isEqualTo(100, CLOSE);
    assertThat(scale.shortened()).isEmpty();
  }

  @Test
  void a_wait_of_a_day_leaves_room_to_each_step() {
    TimeScale scale = new TimeScale(span(0, 86_402), List.of(span(0, 1), span(86_401, 86_402)));

    assertThat(scale.at(at(1))).isEqualTo(5, CLOSE);
    assertThat(scale.at(at(86_401))).isEqualTo(95, CLOSE);
    assertThat(scale.at(at(86_402))).isEqualTo(100, CLOSE);
    assertThat(scale.shortened()).containsExactly(span(1, 86_401));
  }

  @Test
  void many_steps_get_most_of_the_width() {
    List<Span> steps =
        IntStream.range(0, 50).mapToObj(i -> span(i / 50.0, (i + 1) / 50.0)).toList();
    TimeScale scale = new TimeScale(span(0, 86_401), steps);

    assertThat(scale.at(at(1))).isEqualTo(80, within(0.01));
    assertThat(scale.at(at(0.5))).isEqualTo(40, within(0.01));
    assertThat(scale.shortened()).containsExactly(span(1, 86_401));
  }

  @Test
  void a_step_without_length_does_not_fill_the_picture() {
    TimeScale scale = new TimeScale(span(0, 3.2), List.of(span(3.15, 3.15)));

    assertThat(scale.at(at(3.15))).isBetween(94.0, 96.0);
  }

  @Test
  void a_short_wait_keeps_its_length() {
    TimeScale scale = new TimeScale(span(0, 10), List.of(span(0, 4), span(5.2, 10)));

    assertThat(scale.at(at(4))).isEqualTo(40, CLOSE);
    assertThat(scale.at(at(5.2))).isEqualTo(52, CLOSE);
    assertThat(scale.shortened()).isEmpty();
  }

  @Test
  void a_run_of_some_milliseconds_is_linear() {
    TimeScale scale = new TimeScale(span(0, 0.02), List.of(span(0.018, 0.02)));

    assertThat(scale.at(at(0.01))).isEqualTo(50, CLOSE);
    assertThat(scale.shortened()).isEmpty();
  }

  @Test
  void overlapping_work_leaves_no_wait_in_between() {
    TimeScale scale = new TimeScale(span(0, 10), List.of(span(4, 6), span(0, 9), span(5, 10)));

    assertThat(scale.shortened()).isEmpty();
    assertThat(scale.at(at(5))).isEqualTo(50, CLOSE);
  }

  @Test
  void places_lead_back_to_their_times() {
    TimeScale scale = new TimeScale(span(0, 1_000), List.of(span(0, 10), span(900, 1_000)));

    for (double x = 0; x <= 100; x += 12.5) {
      assertThat(scale.at(scale.timeAt(x))).isEqualTo(x, within(0.01));
    }
  }

  @Test
  void a_run_without_any_work_or_length_is_drawn() {
    assertThat(new TimeScale(span(0, 10), List.of()).at(at(5))).isEqualTo(50, CLOSE);
    assertThat(new TimeScale(span(0, 0), List.of()).at(at(0))).isZero();
  }

  @Test
  void times_outside_are_at_the_ends() {
    TimeScale scale = new TimeScale(span(0, 10), List.of(span(0, 10)));

    assertThat(scale.at(at(-5))).isZero();
    assertThat(scale.at(at(50))).isEqualTo(100, CLOSE);
  }
}
