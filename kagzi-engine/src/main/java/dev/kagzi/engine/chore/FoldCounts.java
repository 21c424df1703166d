package dev.kagzi.engine.chore;

import dev.kagzi.engine.db.Database;
import dev.kagzi.engine.db.Session;
import dev.kagzi.engine.run.RunCounts;
import dev.kagzi.engine.schedule.ScheduleCounts;
import org.jspecify.annotations.Nullable;

/**
 * Folds what was counted since, so that reading the numbers stays cheap; and has everything counted
 * anew once the last server that does not count is gone.
 */
public final class FoldCounts implements Chore {
  private static final int MAX = 10_000;
  private static final int ROUNDS_MAX = 20;

  private final TakePulse pulse;
  private final Database database;
  private TakePulse.@Nullable Reading served;

  public FoldCounts(TakePulse pulse, Database database) {
    this.pulse = pulse;
    this.database = database;
  }

  @Override
  public void run() {
    TakePulse.Reading reading = pulse.last();
    if (reading.equals(served)) {
      return;
    }
    if (reading.counts() == TakePulse.Counts.SOMEBODY_DOES_NOT) {
      database.write(tx -> Duties.owe(tx, Duties.RECOUNT));
    } else if (reading.counts() == TakePulse.Counts.OWED) {
      // Whoever takes the duty does it in the same transaction; the other finds nothing to do.
      database.write(tx -> Duties.take(tx, Duties.RECOUNT) ? RunCounts.recount(tx) : 0);
    }
    if (reading.unfolded()) {
      fold();
    }
    served = reading;
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
