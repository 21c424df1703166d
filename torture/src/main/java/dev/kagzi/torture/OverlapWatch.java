package dev.kagzi.torture;

import dev.kagzi.sdk.Kagzi;
import dev.kagzi.sdk.KagziException;
import dev.kagzi.sdk.WorkflowType;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Takes snapshots of schedules whose runs must not overlap, and checks each. It also cancels runs
 * from time to time, because every kind of end must start the slot that waits.
 */
final class OverlapWatch implements AutoCloseable {
  private static final Duration BETWEEN_SNAPSHOTS = Duration.ofMillis(40);
  private static final Duration BETWEEN_CANCELS = Duration.ofMillis(300);
  private static final int PROBLEMS_MAX = 20;

  /** Locks the schedules, so that no server decides on their slots during the snapshot. */
  private static final String HOLD =
      "SELECT run_id::text FROM kagzi.workflow_runs WHERE run_id = ANY (?::uuid[])"
          + " FOR NO KEY UPDATE SKIP LOCKED";

  private static final String SNAPSHOT =
      """
      SELECT t.run_id::text, t.schedule_name, t.buffered_at IS NOT NULL AS waits,
             (SELECT count(*) FROM kagzi.workflow_runs r
               WHERE r.schedule_id = t.run_id AND r.available_at IS NOT NULL) AS open,
             t.total_runs, t.missed_runs,
             (SELECT r.run_id::text FROM kagzi.workflow_runs r
               WHERE r.schedule_id = t.run_id AND r.available_at IS NOT NULL LIMIT 1) AS run_id
        FROM kagzi.workflow_runs t
       WHERE t.run_id = ANY (?::uuid[])
       ORDER BY random()
      """;

  private final Database database;
  private final Kagzi kagzi;
  private final WorkflowType<?, ?> type;
  private final List<String> schedules;
  private final List<String> problems = new CopyOnWriteArrayList<>();
  private final OverlapRules rules = new OverlapRules(problems);
  private final Thread snapshotThread;
  private final Thread cancelThread;
  private volatile @Nullable String openRun;
  private volatile boolean closed;
  private final AtomicInteger snapshots = new AtomicInteger();
  private final AtomicInteger waited = new AtomicInteger();

  OverlapWatch(
      Database database, Kagzi kagzi, WorkflowType<?, ?> type, Collection<String> schedules) {
    this.database = database;
    this.kagzi = kagzi;
    this.type = type;
    this.schedules = List.copyOf(schedules);
    this.snapshotThread = Thread.ofVirtual().name("snapshots").start(this::takeSnapshots);
    this.cancelThread = Thread.ofVirtual().name("cancel").start(this::cancel);
  }

  private void takeSnapshots() {
    try (SteadyConnection steady = new SteadyConnection(database)) {
      while (!closed && problems.size() < PROBLEMS_MAX) {
        snapshots.addAndGet(steady.use(this::takeSnapshot));
        Pause.ofUnchecked(BETWEEN_SNAPSHOTS);
      }
    } catch (SQLException e) {
      problems.add("watch of overlaps: " + e.getMessage());
    }
  }

  private int takeSnapshot(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    try (PreparedStatement hold = connection.prepareStatement(HOLD);
        PreparedStatement snapshot = connection.prepareStatement(SNAPSHOT)) {
      Array ids = connection.createArrayOf("text", schedules.toArray());
      hold.setArray(1, ids);
      snapshot.setArray(1, ids);
      readSnapshot(hold, snapshot);
      connection.commit();
      return 1;
    }
  }

  private void readSnapshot(PreparedStatement hold, PreparedStatement snapshot)
      throws SQLException {
    Set<String> held = new HashSet<>();
    try (ResultSet rows = hold.executeQuery()) {
      while (rows.next()) {
        held.add(rows.getString(1));
      }
    }
    try (ResultSet rows = snapshot.executeQuery()) {
      while (rows.next()) {
        check(
            new OverlapRules.Snapshot(
                rows.getString(2),
                held.contains(rows.getString(1)),
                rows.getBoolean(3),
                rows.getLong(4),
                rows.getLong(5),
                rows.getLong(6)));
        String run = rows.getString(7);
        if (run != null) {
          openRun = run;
        }
      }
    }
  }

  private void check(OverlapRules.Snapshot now) {
    rules.check(now);
    if (now.waits()) {
      waited.incrementAndGet();
    }
  }

  private void cancel() {
    while (!closed) {
      Pause.ofUnchecked(BETWEEN_CANCELS);
      String run = openRun;
      if (run != null) {
        try {
          kagzi.run(run, type).cancel();
        } catch (KagziException away) {
          // All servers are killed or paused: try again later.
        }
      }
    }
  }

  /** The number of snapshots, and how often a slot was waiting. */
  String summary() {
    return "%d snapshots of overlaps, %d times a slot was waiting, %d decisions while no run was open"
        .formatted(snapshots.get(), waited.get(), rules.decisions());
  }

  /**
   * The problems that were found.
   *
   * @param isFull whether missing evidence is a problem too; few schedules on a busy machine may
   *     never be seen without an open run
   */
  List<String> problems(boolean isFull) {
    List<String> all = new ArrayList<>(problems);
    if (isFull && waited.get() == 0) {
      all.add("no slot was ever seen waiting for the end of a run");
    }
    if (isFull && rules.decisions() == 0) {
      all.add("no decision was ever seen while no run was open");
    }
    return all;
  }

  @Override
  public void close() {
    closed = true;
    try {
      snapshotThread.join();
      cancelThread.join();
    } catch (InterruptedException e) {
      throw TortureException.interrupted(e);
    }
  }
}
