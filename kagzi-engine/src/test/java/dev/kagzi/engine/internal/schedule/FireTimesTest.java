package dev.kagzi.engine.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kagzi.engine.value.Refusal;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The times at which a schedule fires. */
class FireTimesTest {
  private static final List<String> ZONES =
      List.of(
          "UTC",
          "Europe/Berlin",
          "America/New_York",
          "Australia/Lord_Howe",
          "Asia/Kolkata",
          "America/Sao_Paulo",
          "Asia/Beirut",
          "Africa/Casablanca",
          "Pacific/Apia",
          "Pacific/Chatham",
          "Antarctica/Troll");

  @Test
  void random_expressions_fire_at_the_times_that_testing_every_second_finds() {
    Random random = new Random(47);
    int slots = 0;
    for (int i = 0; i < 400; i++) {
      CronWalk walk = new CronWalk(random);
      String zone = ZONES.get(random.nextInt(ZONES.size()));
      long middle = CronWalk.near(random, ZoneId.of(zone));
      long from = middle - walk.hoursToWalk() * 3_600L - random.nextInt(7_200);
      long before = middle + walk.hoursToWalk() * 3_600L + random.nextInt(7_200);
      List<Long> expected = walk.slots(ZoneId.of(zone), from, before);
      slots += expected.size();

      check(
          FireTimes.of(walk.expression(), zone),
          walk.expression() + " " + zone,
          from,
          before,
          expected);
    }
    assertThat(slots).isGreaterThan(5_000);
  }

  private static void check(
      FireTimes slots, String name, long from, long before, List<Long> expected) {
    List<Long> found = new ArrayList<>();
    for (long slot = slots.after(from - 1); slot != FireTimes.NONE && slot < before; ) {
      found.add(slot);
      slot = slots.after(slot);
    }
    assertThat(found).as(name).isEqualTo(expected);
    assertThat(slots.count(from - 1, before - 1)).as(name).isEqualTo(expected.size());
    for (int n = 0; n < expected.size(); n += 1 + expected.size() / 5) {
      assertThat(slots.nthAfter(from - 1, n, before - 1)).as(name).isEqualTo(expected.get(n));
      assertThat(slots.count(expected.get(n), before - 1))
          .as(name)
          .isEqualTo(expected.size() - n - 1);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0 9 * * *       | UTC           | 2026-03-01T09:00:00Z | 2026-03-02T09:00:00Z",
        "*/10 * * * * *  | UTC           | 2026-03-01T09:00:00Z | 2026-03-01T09:00:10Z",
        "0 0 0 29 2 *    | UTC           | 2026-03-01T00:00:00Z | 2028-02-29T00:00:00Z",
        "0 0 0 1 1 * 2030| UTC           | 2026-03-01T00:00:00Z | 2030-01-01T00:00:00Z",
        "@hourly         | Asia/Kolkata  | 2026-03-01T00:00:00Z | 2026-03-01T00:30:00Z",
        "@Weekly         | UTC           | 2026-11-15T00:00:00Z | 2026-11-22T00:00:00Z",
        "0 12 * * SAT-MON| UTC           | 2026-11-16T12:00:00Z | 2026-11-21T12:00:00Z",
        "0 12 13 * FRI   | UTC           | 2026-11-13T12:00:00Z | 2026-11-20T12:00:00Z",
        "0 12 */2 * FRI  | UTC           | 2026-11-13T12:00:00Z | 2026-11-27T12:00:00Z",
        "0 12 ? * 7      | UTC           | 2026-11-15T12:00:00Z | 2026-11-22T12:00:00Z",
        "0 22-1 * * *    | UTC           | 2026-11-15T23:00:00Z | 2026-11-16T00:00:00Z",
        // Gap: fires once, at its end.
        "30 2 * * *      | Europe/Berlin | 2026-03-28T12:00:00Z | 2026-03-29T01:00:00Z",
        "0,30 2,3 * * *  | Europe/Berlin | 2026-03-29T01:00:00Z | 2026-03-29T01:30:00Z",
        // Overlap: fires once, the first time.
        "30 2 * * *      | Europe/Berlin | 2026-10-24T12:00:00Z | 2026-10-25T00:30:00Z",
        "30 2 * * *      | Europe/Berlin | 2026-10-25T00:30:00Z | 2026-10-26T01:30:00Z",
        // Elapsed time: the second 02:30 fires too.
        "30 * * * *      | Europe/Berlin | 2026-10-25T00:30:00Z | 2026-10-25T01:30:00Z",
        "30 */2 * * *    | Europe/Berlin | 2026-03-28T23:30:00Z | 2026-03-29T02:30:00Z",
        // A day that the zone skipped when it crossed the date line.
        "0 9 30 12 *     | Pacific/Apia  | 2011-12-30T00:00:00Z | 2011-12-30T10:00:00Z",
      })
  void the_next_slot_is(String cron, String zone, Instant after, Instant expected) {
    long next = FireTimes.of(cron, zone).after(after.getEpochSecond());

    assertThat(Instant.ofEpochSecond(next)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "60 * * * *       | field minute is \"60\" (expected: *, or a list of 0 to 59",
        "* 24 * * *       | field hour is \"24\"",
        "* * 0 * *        | field day-of-month is \"0\"",
        "* * * FOO *      | field month is \"FOO\" (expected: *, or a list of 1 to 12 or JAN to DEC",
        "* * * * 8        | field day-of-week is \"8\"",
        "61 * * * * *     | field second is \"61\"",
        "0 0 0 1 1 * 2400 | field year is \"2400\"",
        "*/0 * * * *      | field minute is \"*/0\"",
        "1-2-3 * * * *    | field minute is \"1-2-3\"",
        "1,,2 * * * *     | field minute is \"1,,2\"",
        "-1 * * * *       | field minute is \"-1\"",
        "? * * * *        | field minute is \"?\"",
        "* * * *          | has 4 fields (expected: 5",
        "* * * * * * * *  | has 8 fields",
        "@reboot          | @reboot (expected: @yearly",
      })
  void the_message_names_the_wrong_field(String cron, String message) {
    assertThatThrownBy(() -> FireTimes.of(cron, "UTC"))
        .isInstanceOf(Refusal.class)
        .hasMessageStartingWith("cron_expr: ")
        .hasMessageContaining(message);
  }

  @Test
  void a_zone_must_be_one_of_the_database() {
    assertThatThrownBy(() -> FireTimes.of("@daily", "Europe/Atlantis"))
        .hasMessage(
            "time_zone: Europe/Atlantis (expected: a time zone of the IANA database, such as"
                + " Europe/Berlin)");
  }

  @Test
  void an_expression_that_never_fires_has_no_slot() {
    assertThat(FireTimes.of("0 0 30 2 *", "UTC").after(0)).isEqualTo(FireTimes.NONE);
    assertThat(FireTimes.of("0 0 0 1 1 * 2020", "Europe/Berlin").after(1_800_000_000L))
        .isEqualTo(FireTimes.NONE);
  }

  @Test
  void a_century_of_seconds_is_counted_quickly() {
    FireTimes slots = FireTimes.of("* * * * * *", "Europe/Berlin");
    long begun = System.nanoTime();

    long count = slots.count(0, 100L * 365 * 86_400);
    long newest = slots.nthAfter(0, count - 100, count);

    assertThat(count).isEqualTo(100L * 365 * 86_400);
    assertThat(newest).isEqualTo(count - 99);
    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(5));
  }
}
