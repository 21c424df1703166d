package dev.kagzi.engine;

import dev.kagzi.engine.internal.notification.Notifier;
import dev.kagzi.engine.internal.notification.ServerMessage;
import dev.kagzi.engine.metrics.Meters;
import dev.kagzi.engine.run.RunCompletions;
import dev.kagzi.engine.value.RunId;

/** Publishes the messages about awaited runs to other servers, and counts reads. */
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
