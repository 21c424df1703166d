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
      fold();
    }
    served = pending;
  }

  private void fold() {
    fold(tx -> RunCounts.fold(tx, MAX));
    fold(tx -> ScheduleCounts.fold(tx, MAX));
  }

  private void fold(Session.Work<Integer> part) {
    for (int round = 0; round < ROUNDS_MAX; round++) {
      if (database.write(part) < MAX) {
        return;
      }
    }
  }
}
