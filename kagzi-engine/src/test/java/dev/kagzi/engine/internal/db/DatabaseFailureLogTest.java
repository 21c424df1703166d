package dev.kagzi.engine.internal.db;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.CapturedLog;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.event.Level;

/** The number and text of the log lines of a failing database. */
class DatabaseFailureLogTest {
  private final CapturedLog log = CapturedLog.of(DatabaseFailureLog.class);
  private long now = -TimeUnit.MINUTES.toNanos(3);
  private int evicted;
  private final DatabaseFailureLog failures = new DatabaseFailureLog(() -> now, () -> evicted++);

  @AfterEach
  void close() {
    log.close();
  }

  private static SQLException refused() {
    return new SQLException("connection refused", "08001");
  }

  private void pass(long seconds) {
    now += TimeUnit.SECONDS.toNanos(seconds);
  }

  private void failFor(long seconds) {
    for (long second = 0; second < seconds; second++) {
      for (int i = 0; i < 10; i++) {
        failures.failed(Level.WARN, "claim", refused(), now);
      }
      pass(1);
    }
  }

  private List<String> messages() {
    return log.lines().stream().map(line -> line.replaceAll(" \\w+=.*", "")).toList();
  }

  @Test
  void the_database_has_worked_lately_until_an_outage_or_until_nothing_succeeds_for_a_while() {
    long lately = TimeUnit.SECONDS.toNanos(6);
    assertThat(failures.hasWorkedWithin(lately)).isFalse();
    failures.worked(now);
    assertThat(failures.hasWorkedWithin(lately)).isTrue();

    pass(6);
    assertThat(failures.hasWorkedWithin(lately)).as("silent").isFalse();
    failures.worked(now);
    failFor(1);
    assertThat(failures.hasWorkedWithin(lately)).as("outage").isFalse();
    failures.worked(now);
    assertThat(failures.hasWorkedWithin(lately)).as("back").isTrue();
  }

  @Test
  void an_outage_costs_a_line_when_it_begins_one_a_minute_and_one_when_it_is_over() {
    failures.worked(now);
    failFor(150);
    failures.worked(now);
    failures.worked(now);

    assertThat(messages())
        .containsExactly(
            "WARN the database is unavailable",
            "WARN the database is still unavailable",
            "WARN the database is still unavailable",
            "INFO the database is available again");
    assertThat(log.lines().get(0))
        .contains("call=claim", "state=08001", "error=connection refused");
    assertThat(log.lines().get(3)).contains("unreachable_ms=150000", "failures=1500");
    assertThat(evicted).isEqualTo(1);
  }

  @Test
  void a_connection_from_before_the_end_of_an_outage_begins_no_other() {
    long opened = now;
    pass(1);
    failFor(1);
    long during = now;
    pass(1);
    failures.worked(now);
    pass(60);

    failures.failed(Level.WARN, "lane-0", refused(), opened);
    failures.failed(Level.WARN, "lane-1", refused(), during);
    assertThat(log.lines()).hasSize(2);

    failures.failed(Level.WARN, "lane-1", refused(), now);
    assertThat(messages()).hasSize(3).endsWith("WARN the database is unavailable");
  }

  /** A statement that was sent before the outage does not show that the database works now. */
  @Test
  void an_answer_to_a_statement_sent_before_an_outage_does_not_end_it() {
    long sent = now;
    pass(1);
    failFor(1);
    failures.worked(sent);

    assertThat(messages()).containsExactly("WARN the database is unavailable");
  }

  @Test
  void a_flapping_database_logs_at_most_one_line_every_ten_seconds() {
    for (int i = 0; i < 60; i++) {
      pass(1);
      failures.failed(Level.WARN, "claim", refused(), now);
      pass(1);
      failures.worked(now);
    }

    assertThat(messages().stream().filter(line -> line.equals("WARN the database is unavailable")))
        .hasSizeBetween(9, 13);
    assertThat(log.lines()).hasSizeLessThanOrEqualTo(26);
  }

  @Test
  void a_refused_value_is_logged_with_statement_call_and_ids_and_without_values() {
    UUID run = UUID.randomUUID();
    SQLException refused =
        new StatementException(
            new SQLException("value out of range", "22008"),
            "UPDATE kagzi.workflow_runs\n   SET available_at = ?",
            List.of(run));

    failures.failed(Level.WARN, "Workers.register", refused, now);

    assertThat(log.lines())
        .containsExactly(
            "WARN the database refused a value call=Workers.register ids=["
                + run
                + "] state=22008 error=value out of range statement=UPDATE kagzi.workflow_runs"
                + " SET available_at = ?");
  }

  @Test
  void a_conflict_between_transactions_is_not_logged() {
    failures.failed(Level.WARN, "lane-0", new SQLException("deadlock", "40P01"), now);

    assertThat(log.lines()).isEmpty();
  }

  /** The sender of a failing statement repeats it, up to 17 times in ten seconds. */
  @Test
  void a_statement_that_fails_again_and_again_costs_one_line_a_minute() {
    UUID worker = UUID.randomUUID();
    for (int second = 0; second < 150; second++) {
      failures.failed(Level.ERROR, "Heartbeat", raised(worker), now);
      failures.failed(Level.WARN, "notify", raised(worker), now);
      pass(1);
    }

    assertThat(log.lines().stream().filter(line -> line.startsWith("ERROR")))
        .containsExactly(line(worker, 1), line(worker, 60), line(worker, 60));
    assertThat(log.lines().stream().filter(line -> line.startsWith("WARN")))
        .hasSize(3)
        .allMatch(line -> line.contains("call=notify"));
  }

  private static SQLException raised(UUID worker) {
    return new StatementException(
        new SQLException("no", "P0001"), "UPDATE kagzi.workers w", List.of(worker));
  }

  private static String line(UUID worker, int failures) {
    return "ERROR a statement failed call=Heartbeat ids=["
        + worker
        + "] state=P0001 failures="
        + failures
        + " error=no statement=UPDATE kagzi.workers w";
  }
}
