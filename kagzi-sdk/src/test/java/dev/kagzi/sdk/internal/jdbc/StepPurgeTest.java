package dev.kagzi.sdk.internal.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.sdk.internal.jdbc.StepPurge.RunState;
import dev.kagzi.sdk.jdbc.StepTable;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class StepPurgeTest {
  static List<DataSource> databases() {
    return List.of(TestDatabases.postgres(), TestDatabases.h2(""));
  }

  /** Who purges for the first time after a year has more of them than any limit. */
  @ParameterizedTest
  @MethodSource("databases")
  void rows_of_many_runs_that_the_server_has_deleted_are_deleted(DataSource database)
      throws SQLException {
    String namespace = UUID.randomUUID().toString();
    String open = "70000000-0000-7000-8000-000000000000";
    StepTable.in(database).create();
    for (int hundred = 0; hundred < 110; hundred++) {
      insertHundred(database, namespace, hundred);
    }
    insert(database, namespace, open);

    long deleted =
        new StepPurge(
                database,
                namespace,
                Duration.ofHours(1),
                run -> run.equals(open) ? new RunState.CanContinue() : new RunState.Unknown())
            .purge();

    assertThat(deleted).isEqualTo(11_000);
    assertThat(
            TestDatabases.execute(
                database,
                "SELECT count(*) FROM kagzi_steps WHERE namespace = '%s'".formatted(namespace)))
        .isEqualTo(1);
  }

  private static void insertHundred(DataSource database, String namespace, int hundred) {
    StringBuilder rows = new StringBuilder(row(namespace, runId(hundred, 0)));
    for (int i = 1; i < 100; i++) {
      rows.append(", ").append(row(namespace, runId(hundred, i)));
    }
    TestDatabases.execute(database, "INSERT INTO kagzi_steps VALUES " + rows);
  }

  private static void insert(DataSource database, String namespace, String runId) {
    TestDatabases.execute(database, "INSERT INTO kagzi_steps VALUES " + row(namespace, runId));
  }

  private static String runId(int hundred, int number) {
    return "%08d-0000-7000-8000-%012d".formatted(hundred, number);
  }

  private static String row(String namespace, String runId) {
    return "('%s', '%s', 'debit', 1, NULL, TIMESTAMP '2026-01-01 00:00:00')"
        .formatted(namespace, runId);
  }
}
