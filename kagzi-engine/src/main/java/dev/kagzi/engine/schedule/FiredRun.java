package dev.kagzi.engine.schedule;

import dev.kagzi.engine.run.RunEvents;
import dev.kagzi.engine.value.QueueName;
import dev.kagzi.engine.value.RunId;
import dev.kagzi.engine.value.TypeVersion;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A run that a schedule has started. */
public record FiredRun(
    RunId runId,
    RunId schedule,
    QueueName queue,
    TypeVersion type,
    long delayMs,
    @Nullable Long executionTimeoutMs) {

  private record Place(QueueName queue, TypeVersion type) {}

  /** Tells of runs that are durable: once for each queue and type, however many there are. */
  public static void tell(Collection<FiredRun> fired, RunEvents events) {
    Map<Place, Long> places = new HashMap<>();
    for (FiredRun run : fired) {
      places.merge(new Place(run.queue, run.type), run.delayMs, Math::min);
      if (run.executionTimeoutMs != null) {
        events.expires(run.delayMs + run.executionTimeoutMs);
      }
    }
    places.forEach((place, delayMs) -> events.someDue(place.queue, place.type, delayMs));
  }
}
