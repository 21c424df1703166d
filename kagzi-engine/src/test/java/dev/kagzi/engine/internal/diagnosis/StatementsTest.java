package dev.kagzi.engine.internal.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.internal.db.Session;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The list of indexes is that of the migrations, and no statement reads whole large tables. */
class StatementsTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final String RUNS =
      """
      INSERT INTO kagzi.workflow_runs
             (run_id, namespace, task_queue, workflow_type, status, available_at, blocked_by,
              created_at, finished_at)
      SELECT gen_random_uuid(), 'default', 'q' || i % 5, 't' || i % 20,
             CASE WHEN i % 100 = 1 THEN 'PENDING' ELSE 'COMPLETED' END,
             CASE WHEN i % 100 = 1 THEN now() END,
             CASE WHEN i % 1000 = 1 THEN '{}'::jsonb END,
             now() - i * interval '1 s', CASE WHEN i % 100 <> 1 THEN now() END
        FROM generate_series(1, 20000) i
      """;

  private static final String COUNTS =
      """
      INSERT INTO kagzi.run_counts (namespace, workflow_type, task_queue, version, status, runs)
      SELECT namespace, workflow_type, task_queue, version, status, count(*)
        FROM kagzi.workflow_runs
       GROUP BY namespace, workflow_type, task_queue, version, status
      """;

  private static final String MESSAGES =
      """
      INSERT INTO kagzi.run_messages (to_run, step_id, what, created_at)
      SELECT gen_random_uuid(), 's', 'CHILD', now() FROM generate_series(1, 20000)
      """;

  /** Change indexes.txt together with a migration that creates or drops an index. */
  @Test
  void the_listed_indexes_are_those_of_a_migrated_schema() {
    assertThat(database.open().<Object>read(session -> new IndexChecks(session).definitions()))
        .isEqualTo(IndexChecks.expected());
  }

  @Test
  void statements_find_runs_and_messages_by_index() {
    List.of(RUNS, COUNTS, MESSAGES, "ANALYZE").forEach(database::execute);

    for (String sql :
        List.of(
            RunChecks.DUE,
            RunChecks.CRASHING,
            RunChecks.BLOCKED,
            RunChecks.MESSAGES,
            RunChecks.SCHEDULES)) {
      assertThat(plan(sql))
          .doesNotContain("Seq Scan on workflow_runs")
          .doesNotContain("Seq Scan on run_messages");
    }
  }

  // On a pooled connection: writers' sessions disable sequential scans.
  private static String plan(String sql) {
    return database.open().read(session -> plan(session, sql));
  }

  private static String plan(Session session, String sql) throws SQLException {
    return String.join(
        "\n",
        session
            .query("EXPLAIN " + sql.replaceAll("\\?::bigint", "60000").replace("?", "1000"))
            .list(row -> row.text("QUERY PLAN")));
  }
}
