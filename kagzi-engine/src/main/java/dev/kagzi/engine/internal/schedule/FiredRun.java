package dev.kagzi.engine.internal.schedule;

import dev.kagzi.engine.internal.run.RunEvents;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

public record FiredRun(
    RunId runId,
    RunId schedule,
    QueueName queue,
    TypeVersion type,
    long delayMs,
    @Nullable Long executionTimeoutMs) {

  private record Destination(QueueName queue, TypeVersion type) {}

  /** Publishes committed runs: one due event per queue and type. */
  public static void publish(Collection<FiredRun> fired, RunEvents events) {
    Map<Destination, Long> destinations = new HashMap<>();
    for (FiredRun run : fired) {
      events.fired(run.queue, run.type);
      destinations.merge(new Destination(run.queue, run.type), run.delayMs, Math::min);
      if (run.executionTimeoutMs != null) {
        events.expires(run.delayMs + run.executionTimeoutMs);
      }
    }
    destinations.forEach(
        (destination, delayMs) -> events.runsDue(destination.queue, destination.type, delayMs));
  }
}
