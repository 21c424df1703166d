package dev.kagzi.engine.query;

import dev.kagzi.engine.internal.db.Session;
import java.sql.SQLException;
import java.util.List;

/** Reads from {@code run_rates} how many runs of queues started and ended in the last hour. */
final class QueueRateQueries {
  private static final String RATES =
      """
      SELECT r.task_queue, sum(r.started)::bigint AS started,
             sum(r.completed)::bigint AS completed, sum(r.failed)::bigint AS failed
        FROM kagzi.run_rates r
       WHERE r.namespace = ? AND r.minute > kagzi.clock() - interval '60 minutes'
         AND r.task_queue = ANY (?)
       GROUP BY r.task_queue
      """;

  private final Session session;
  private final String namespace;

  QueueRateQueries(Session session, String namespace) {
    this.session = session;
    this.namespace = namespace;
  }

  /** Returns the rates of the queues that have any. */
  List<QueueRate> read(List<String> queues) throws SQLException {
    return rates(namespace, queues)
        .on(session)
        .list(
            row ->
                new QueueRate(
                    row.text("task_queue"),
                    row.bigint("started"),
                    row.bigint("completed"),
                    row.bigint("failed")));
  }

  static SqlBuilder rates(String namespace, List<String> queues) {
    return new SqlBuilder().add(RATES, namespace, queues);
  }
}
