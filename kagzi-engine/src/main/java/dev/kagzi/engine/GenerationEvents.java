package dev.kagzi.engine;

import dev.kagzi.engine.internal.db.Generation;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.internal.dispatch.Dispatcher;
import dev.kagzi.engine.internal.run.RevokeClaims;
import dev.kagzi.engine.run.RunCompletions;
import dev.kagzi.engine.value.Claim;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reacts to a database that may have lost commits, for example after a failover. What workers and
 * servers hold in memory is no longer certain. So all claims are revoked, and this server reads its
 * state again.
 */
final class GenerationEvents implements Generation.Listener {
  private static final Logger log = LoggerFactory.getLogger(GenerationEvents.class);

  private final Dispatcher dispatcher;
  private final RunCompletions completions;
  private final Runnable refreshEverything;
  private final AtomicBoolean hasWarned = new AtomicBoolean();

  GenerationEvents(Dispatcher dispatcher, RunCompletions completions, Runnable refreshEverything) {
    this.dispatcher = dispatcher;
    this.completions = completions;
    this.refreshEverything = refreshEverything;
  }

  @Override
  public void begins(Session tx) throws SQLException {
    log.atWarn()
        .addKeyValue("runs", RevokeClaims.revokeAll(tx))
        .log("the database has begun a new timeline; the claims of all workers are taken");
  }

  @Override
  public void begun(int generation) {
    log.atInfo().addKeyValue("generation", generation).log("the database has a new generation");
    dispatcher.commitsLost(Claim.epochBase(generation));
    completions.commitsLost();
    refreshEverything.run();
  }

  @Override
  public void withoutTimelines(SQLException cause) {
    if (hasWarned.compareAndSet(false, true)) {
      log.atWarn()
          .addKeyValue("state", cause.getSQLState())
          .addKeyValue("cause", cause.getMessage())
          .log(
              "the database does not show its timeline: after a failover or a restore, claims of"
                  + " before are not taken; stop all workers before it");
    }
  }
}
