package dev.kagzi.engine;

import dev.kagzi.engine.internal.db.Row;
import dev.kagzi.engine.value.RunId;
import java.util.Optional;
import org.jspecify.annotations.NullMarked;

/** Reads the database of a test directly, without the engine. */
@NullMarked
public final class Stored {
  private final TestDatabase database;

  public Stored(TestDatabase database) {
    this.database = database;
  }

  /** Returns a run with its steps and messages, all columns, as one text to compare. */
  public String everythingOf(RunId run) {
    return text(
        "SELECT concat((SELECT row_to_json(r)::text FROM kagzi.workflow_runs r WHERE run_id = id),"
            + " (SELECT json_agg(s ORDER BY s.step_id, s.attempt)::text FROM kagzi.step_runs s"
            + " WHERE run_id = id),"
            + " (SELECT json_agg(p ORDER BY p.kind)::text FROM kagzi.workflow_payloads p"
            + " WHERE run_id = id)) AS value FROM (VALUES ('"
            + run
            + "'::uuid)) AS n (id)");
  }

  /** Returns the query's column {@code value} as a number. */
  public long count(String sql) {
    return one(sql, row -> row.bigint("value"));
  }

  /** Returns the query's column {@code value}. */
  public String text(String sql) {
    return one(sql, row -> row.text("value"));
  }

  /** Returns the milliseconds until the run can be claimed, by the database's clock. */
  public double dueMs(RunId run) {
    return Double.parseDouble(
        text(
            "SELECT (extract(epoch FROM available_at - kagzi.clock()) * 1000)::text AS value"
                + " FROM kagzi.workflow_runs WHERE run_id = '"
                + run
                + "'"));
  }

  /** Ends the run's lease now. */
  public void expireLease(RunId run) {
    database.execute(
        "UPDATE kagzi.workflow_runs SET available_at = kagzi.clock() WHERE run_id = '" + run + "'");
  }

  /** Returns whether a session of this database waits for a lock. */
  public boolean somebodyWaitsForALock() {
    return count(
            "SELECT count(*) AS value FROM pg_stat_activity"
                + " WHERE datname = current_database() AND wait_event_type = 'Lock'")
        > 0;
  }

  private <T> T one(String sql, Mapper<T> mapper) {
    Optional<T> found = database.run(session -> session.query(sql).first(mapper::map));
    return found.orElseThrow();
  }

  private interface Mapper<T> {
    T map(Row row) throws java.sql.SQLException;
  }
}
