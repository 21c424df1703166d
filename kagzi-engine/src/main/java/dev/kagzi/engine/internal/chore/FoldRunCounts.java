package dev.kagzi.engine.internal.chore;

import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.run.RunCounts;
import dev.kagzi.engine.internal.schedule.ScheduleCounts;
import org.jspecify.annotations.Nullable;

/** Folds {@code run_changes} and {@code schedule_changes} into the tables of counts. */
public final class FoldRunCounts implements Chore {
  private static final int MAX = 10_000;
  private static final int ROUNDS_MAX = 20;

  private final ServerHeartbeat heartbeat;
  private final Database database;
  private ServerHeartbeat.@Nullable PendingWork served;

  public FoldRunCounts(ServerHeartbeat heartbeat, Database database) {
    this.heartbeat = heartbeat;
    this.database = database;
  }

  @Override
  public void run() {
    ServerHeartbeat.PendingWork pending = heartbeat.pendingWork();
    if (pending.equals(served)) {
      return;
    }
    if (pending.unfolded()) {
      fold(database);
    }
    served = pending;
  }

  /**
   * Folds the changes that no server has folded because all were stopped or killed. They were made
   * before the last heartbeat, and must not be counted as changes of this minute.
   */
  public static void foldLeftBehind(Database database) {
    long ageMs = database.read(ServerHeartbeat::silentMs);
    if (ageMs > ServerHeartbeat.ALIVE_MS) {
      fold(database, tx -> RunCounts.foldOld(tx, ageMs, MAX));
    }
  }

  /** Folds all changes now. */
  public static void fold(Database database) {
    fold(database, tx -> RunCounts.fold(tx, MAX));
    fold(database, tx -> ScheduleCounts.fold(tx, MAX));
  }

  private static void fold(Database database, Session.Work<Integer> part) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
      if (database.write(part) < MAX) {
        return;
      }
    }
  }
}
