package dev.kagzi.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.postgres.SharedPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TestDatabaseTest {
  private static final Duration DAY = Duration.ofDays(1);

  @ParameterizedTest
  @ValueSource(strings = {"workers", "workflow_runs", "servers"})
  void clock_does_not_move_while_a_transaction_that_read_the_former_time_may_write_it(String table)
      throws Exception {
    try (TestDatabase database = TestDatabase.create();
        Connection writer = SharedPostgres.server().connect(database.name());
        Statement statement = writer.createStatement()) {
      Instant before = database.now();
      writer.setAutoCommit(false);
      statement.execute("DELETE FROM kagzi." + table);

      CompletableFuture<Void> moved =
          CompletableFuture.runAsync(() -> database.moveClock(before.plus(DAY)));

      assertThat(moved).failsWithin(Duration.ofMillis(200));
      assertThat(clock(statement)).isBefore(before.plus(DAY));
      writer.commit();
      moved.get(10, TimeUnit.SECONDS);
      assertThat(clock(statement)).isAfterOrEqualTo(before.plus(DAY));
    }
  }

  @Test
  void clock_never_goes_back() {
    try (TestDatabase database = TestDatabase.create()) {
      Instant before = database.now();

      database.moveClock(before.minus(DAY));

      assertThat(database.now()).isAfterOrEqualTo(before);
    }
  }

  private static Instant clock(Statement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery("SELECT kagzi.clock()")) {
      row.next();
      return row.getObject(1, OffsetDateTime.class).toInstant();
    }
  }
}
