package dev.kagzi.engine.query;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.CapturedLog;
import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.config.DatabaseConfig;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.metrics.Meters;
import java.sql.SQLException;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the gauges about the cluster show if it cannot be read, or not all of it. */
class ClusterMetricsTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static void insertRuns(String queue, String type, int runs) {
    database.execute(
        """
        INSERT INTO kagzi.workflow_runs
               (run_id, namespace, task_queue, workflow_type, status, created_at, available_at)
        SELECT gen_random_uuid(), 'default', '%s', '%s', 'PENDING', now(),
               now() - interval '1 hour'
          FROM generate_series(1, %d)
        """
            .formatted(queue, type, runs));
    database.execute(
        """
        INSERT INTO kagzi.run_changes
               (namespace, task_queue, workflow_type, version, to_status, runs)
        VALUES ('default', '%s', '%s', '', 'PENDING', %d)
        """
            .formatted(queue, type, runs));
  }

  @Test
  void a_queue_that_was_not_searched_is_unknown_and_not_zero() throws SQLException {
    database.forgetRuns();
    insertRuns("long", "a", 3);
    insertRuns("long", "b", 2);
    insertRuns("short", "a", 1);

    Map<String, Boolean> searched = new TreeMap<>();
    database
        .open()
        .read(session -> ClusterState.queueQuery(2).on(session).list(ClusterState::queue))
        .forEach(queue -> searched.put(queue.name(), queue.oldestDueMs() != null));

    assertThat(searched).containsExactlyInAnyOrderEntriesOf(Map.of("long", true, "short", false));
  }

  @Test
  void queues_that_share_a_label_show_the_longest_known_time() {
    assertThat(ClusterMetrics.longest(3, Double.NaN)).isEqualTo(3);
    assertThat(ClusterMetrics.longest(Double.NaN, 5)).isEqualTo(5);
    assertThat(ClusterMetrics.longest(3, 5)).isEqualTo(5);
    assertThat(ClusterMetrics.longest(0, 0)).isZero();
    assertThat(ClusterMetrics.longest(0, Double.NaN)).isNaN();
  }

  @Test
  void a_failed_read_is_counted() {
    Meters meters = Meters.unpublished();
    DatabaseConfig config =
        new DatabaseConfig("jdbc:postgresql://127.0.0.1:1/kagzi?connectTimeout=1", "kagzi", "");
    try (Database away = Database.open(config)) {
      ClusterMetrics metrics = new ClusterMetrics(away, meters);

      metrics.read();

      assertThat(meters.registry().get("kagzi.cluster.reads.failed").counter().count())
          .isEqualTo(1);
    }
  }

  @Test
  void several_failures_in_a_row_that_the_database_does_not_log_are_one_line() {
    Database closed = Database.open(database.config());
    closed.close();
    ClusterMetrics metrics = new ClusterMetrics(closed, Meters.unpublished());
    try (CapturedLog log = CapturedLog.of(ClusterMetrics.class)) {
      metrics.failed(new IllegalStateException("planted"));
      metrics.failed(new IllegalStateException("planted"));

      assertThat(log.lines())
          .singleElement()
          .asString()
          .startsWith("WARN the gauges of the cluster could not be read")
          .endsWith(" cause=planted");
    }
  }
}
