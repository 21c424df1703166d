package dev.kagzi.engine;

import dev.kagzi.engine.internal.notification.Notifier;
import dev.kagzi.engine.internal.notification.ServerMessage;
import dev.kagzi.engine.metrics.Meters;
import dev.kagzi.engine.run.RunCompletions;
import dev.kagzi.engine.value.RunId;

/**
 * Publishes to other servers which runs are awaited here and which runs have ended. Counts awaited
 * runs that were read from the database.
 */
record EndMessages(Notifier notifier, Meters meters) implements RunCompletions.Events {

  @Override
  public void read(int runs) {
    meters.runs().endsRead(runs);
  }

  @Override
  public void awaited(RunId run) {
    notifier.publish(new ServerMessage.Awaited(run));
  }

  @Override
  public void ended(RunId run) {
    notifier.publish(new ServerMessage.Ended(run));
  }
}
