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
 * What a server does when the database may have lost commits. Nothing that workers and servers hold
 * in memory is then certain: all claims are taken, and this server reads again what it knew.
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
